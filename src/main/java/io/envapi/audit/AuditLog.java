package io.envapi.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of one host in {@code audit.jsonl}, appended by a thread of their own, so that a disk
 * that stalls holds nobody up. An account that adds more than its share of what is kept adds to
 * {@code audit-busy.jsonl} instead, so that nobody can make the lines of others go. Whoever is
 * about to do something that belongs here takes a {@link Place} first: there is none while the disk
 * fails, stalls, or is too far behind.
 *
 * <p>What is written survives the end of this process at any moment, not the machine's. What could
 * not be written yet is tried again, in order, until it is. A line that a crash cut off is closed
 * at the next start and skipped by readers.
 */
public final class AuditLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

  private static final Duration STALL = Duration.ofSeconds(2);
  private static final Duration RETRY = Duration.ofMillis(200);
  private static final Duration CLOSING = Duration.ofSeconds(2);

  private static final ObjectMapper JSON = new ObjectMapper();

  /** What {@link #reserve} came to. */
  public sealed interface Reservation {}

  /** Nothing may be done that belongs into the log. */
  public record Unavailable(boolean diskFull) implements Reservation {}

  /** Room for what one action has to tell. Given back once, in one of the two ways. */
  public final class Place implements Reservation {

    private final AtomicBoolean used = new AtomicBoolean();

    private Place() {}

    /** Completes when the events are written, which may be never; does not fail. */
    public CompletableFuture<Void> record(List<AuditEvent> events) {
      var all =
          CompletableFuture.allOf(
              events.stream().map(AuditLog.this::enqueue).toArray(CompletableFuture<?>[]::new));
      return all.thenRun(this::release);
    }

    /** Nothing happened that has to be told. */
    public void release() {
      if (used.compareAndSet(false, true)) {
        places.release();
      }
    }
  }

  private record Line(
      String action, AccountId account, ByteBuffer bytes, CompletableFuture<Void> written) {}

  private enum Trouble {
    NONE,
    FULL,
    OTHER
  }

  private final AuditSeries everybody;
  private final AuditSeries busy;
  private final Allowances allowances;
  private final long searchedBytes;
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
  private final Semaphore places;
  private final int mostLines;
  private final Thread writer;
  private volatile Trouble trouble = Trouble.NONE;
  // System.nanoTime() when the write in progress began; 0 between writes.
  private volatile long writingSince;
  private volatile boolean closing;

  private AuditLog(AuditSeries everybody, AuditSeries busy, AuditSizes sizes) {
    this.everybody = everybody;
    this.busy = busy;
    this.allowances = new Allowances(sizes.allowance(), System::nanoTime);
    this.searchedBytes = sizes.searchedBytes();
    this.places = new Semaphore(sizes.places());
    this.mostLines = 2 * sizes.places();
    this.writer = Thread.ofPlatform().name("audit").daemon().start(this::write);
  }

  /** Opens the log in {@code directory}, which is made if it is missing. */
  public static AuditLog open(Path directory, AuditSettings settings) throws IOException {
    return open(directory, AuditSizes.of(settings));
  }

  static AuditLog open(Path directory, AuditSizes sizes) throws IOException {
    var everybody = new AuditSeries(directory, "audit", sizes);
    return new AuditLog(everybody, new AuditSeries(directory, "audit-busy", sizes), sizes);
  }

  /** Room for an action that is about to begin. Never blocks. */
  public Reservation reserve() {
    long since = writingSince;
    boolean stalled = since != 0 && System.nanoTime() - since > STALL.toNanos();
    if (trouble != Trouble.NONE || stalled || !places.tryAcquire()) {
      return new Unavailable(trouble == Trouble.FULL);
    }
    return new Place();
  }

  /** Tells of something the service did by itself, which nothing can hold up any more. */
  public void note(AuditEvent event) {
    if (lines.size() < mostLines) {
      var _ = enqueue(event);
    } else {
      LOG.error("the audit log lost a {} event: too many are waiting", event.action());
    }
  }

  /** The newest events that pass the filter. Reads from the disk. */
  public AuditPage search(AuditFilter filter) throws IOException {
    return AuditSearch.run(everybody.open(searchedBytes), filter, searchedBytes)
        .and(AuditSearch.run(busy.open(searchedBytes), filter, searchedBytes), filter.limit());
  }

  private CompletableFuture<Void> enqueue(AuditEvent event) {
    var line = new Line(event.action(), event.account(), bytes(event), new CompletableFuture<>());
    lines.add(line);
    return line.written();
  }

  private static ByteBuffer bytes(AuditEvent event) {
    try {
      byte[] json = JSON.writeValueAsBytes(event.json());
      return ByteBuffer.allocate(json.length + 1).put(json).put((byte) '\n').flip();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("not writable as JSON", e);
    }
  }

  private void write() {
    try {
      while (!closing || !lines.isEmpty()) {
        Line line = lines.poll(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        if (line != null) {
          write(line);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(Line line) throws InterruptedException {
    int bytes = line.bytes().remaining();
    AuditSeries series = allowances.take(line.account(), bytes) ? everybody : busy;
    while (true) {
      try {
        writingSince = System.nanoTime() | 1;
        series.append(line.bytes());
        writingSince = 0;
        recovered();
        line.written().complete(null);
        return;
      } catch (IOException e) {
        writingSince = 0;
        failed(e);
        if (closing) {
          LOG.error("the audit log lost a {} event at its end", line.action());
          return;
        }
        Thread.sleep(RETRY);
      }
    }
  }

  private void failed(IOException e) {
    String message = String.valueOf(e.getMessage());
    boolean full =
        message.contains("No space left on device") || message.contains("Disk quota exceeded");
    if (trouble == Trouble.NONE) {
      LOG.error(
          "the audit log takes no lines ({}), so nothing that belongs in it is done",
          full ? "disk full" : e.getClass().getSimpleName());
    }
    trouble = full ? Trouble.FULL : Trouble.OTHER;
  }

  private void recovered() {
    if (trouble != Trouble.NONE) {
      trouble = Trouble.NONE;
      LOG.info("the audit log takes lines again");
    }
  }

  @Override
  public void close() throws IOException {
    closing = true;
    try {
      if (!writer.join(CLOSING)) {
        LOG.error("the audit log ends with {} events unwritten", lines.size() + 1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    everybody.close();
    busy.close();
  }
}
