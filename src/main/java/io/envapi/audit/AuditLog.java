package io.envapi.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
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
 * that stalls holds nobody up. Whoever is about to do something that belongs here takes a {@link
 * Place} first: there is none while the disk fails, stalls, or is too far behind.
 *
 * <p>What is written survives the end of this process at any moment, not the machine's. What could
 * not be written yet is tried again, in order, until it is. A line that a crash cut off is closed
 * at the next start and skipped by readers.
 */
public final class AuditLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

  private static final long FILE_BYTES = 16L << 20;
  private static final int FILES = 10;
  private static final int PLACES = 10_000;
  private static final long MOST_SEARCHED_BYTES = 64L << 20;
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

  private record Line(String action, ByteBuffer bytes, CompletableFuture<Void> written) {}

  private enum Trouble {
    NONE,
    FULL,
    OTHER
  }

  private final AuditFile file;
  private final long mostSearchedBytes;
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
  private final Semaphore places;
  private final int mostLines;
  private final Thread writer;
  private volatile Trouble trouble = Trouble.NONE;
  // System.nanoTime() when the write in progress began; 0 between writes.
  private volatile long writingSince;
  private volatile boolean closing;

  private AuditLog(AuditFile file, int places, long mostSearchedBytes) {
    this.file = file;
    this.mostSearchedBytes = mostSearchedBytes;
    this.places = new Semaphore(places);
    this.mostLines = 2 * places;
    this.writer = Thread.ofPlatform().name("audit").daemon().start(this::write);
  }

  /** Opens the log in {@code directory}, which is made if it is missing. */
  public static AuditLog open(Path directory) throws IOException {
    return open(directory, FILE_BYTES, FILES, PLACES, MOST_SEARCHED_BYTES);
  }

  /**
   * @param maxFileBytes the size of a full file
   * @param maxFiles files kept, the current one included
   * @param places actions that may be in progress or waiting for the disk at once
   * @param mostSearchedBytes that one search reads
   */
  static AuditLog open(
      Path directory, long maxFileBytes, int maxFiles, int places, long mostSearchedBytes)
      throws IOException {
    return new AuditLog(
        new AuditFile(directory, maxFileBytes, maxFiles), places, mostSearchedBytes);
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
    return AuditSearch.run(file.openAll(), filter, mostSearchedBytes);
  }

  private CompletableFuture<Void> enqueue(AuditEvent event) {
    var line = new Line(event.action(), bytes(event), new CompletableFuture<>());
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
    while (true) {
      try {
        writingSince = System.nanoTime() | 1;
        file.append(line.bytes());
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
    file.close();
  }
}
