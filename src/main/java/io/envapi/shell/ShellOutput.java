package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.linux.ExitStatus;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.stream.ActorAttributes;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * What a shell prints, on its way from the pipe through framing and redaction into the ring and the
 * log of the command it belongs to.
 *
 * <p>The thread that reads the pipe delivers; the shell's actor prepares commands and asks.
 */
final class ShellOutput {

  private static final String DISPATCHER = "envapi-output-dispatcher";

  /** The newest command. */
  private record Current(CommandId id, CommandLog log, CompletableFuture<CommandEnd> end) {}

  /**
   * A command that output belongs to from now on.
   *
   * @param outputStart the cursor of its first byte
   * @param end completes when it has ended
   */
  record Prepared(long outputStart, CompletionStage<CommandEnd> end) {}

  private final OutputRing ring;
  private final ShellMeter meter;
  private final Path logs;
  private final CompletableFuture<ExitStatus> gone;
  private final Framing framing = new Framing();
  private final Redaction redaction = new Redaction();
  private Optional<Current> current = Optional.empty();
  private Runnable onOutput = () -> {};
  private boolean logging;
  private int lastStatus;

  /**
   * @param gone completes after {@link #shellGone}; no command can be run from then on
   */
  ShellOutput(OutputRing ring, ShellMeter meter, Path logs, CompletableFuture<ExitStatus> gone) {
    this.ring = ring;
    this.meter = meter;
    this.logs = logs;
    this.gone = gone;
  }

  OutputRing ring() {
    return ring;
  }

  /** Reads all of {@code source}. */
  CompletionStage<Done> pump(OutputSource source, Materializer materializer) {
    return Source.fromGraph(source)
        .mapConcat(framing::feed)
        .toMat(Sink.foreach(this::deliver), Keep.right())
        .withAttributes(ActorAttributes.dispatcher(DISPATCHER))
        .run(materializer);
  }

  private void deliver(Framing.Piece piece) {
    switch (piece) {
      case Framing.Output(var bytes) -> {
        synchronized (this) {
          emit(redaction.feed(bytes));
        }
      }
      case Framing.End(var status) -> {
        synchronized (this) {
          emit(redaction.flush());
          lastStatus = status;
        }
        endCurrent(new CommandEnd.Framed(status));
      }
    }
  }

  private void emit(ByteString bytes) {
    if (!bytes.isEmpty()) {
      meter.printed(bytes.size());
      // Who has read a byte finds the next ones in the log, should the service be killed here.
      if (logging) {
        current.ifPresent(c -> c.log().append(bytes));
      }
      ring.append(bytes);
      onOutput.run();
    }
  }

  /** What was held back, when nothing more will come. */
  synchronized void flush() {
    emit(redaction.feed(framing.flush()));
    emit(redaction.flush());
  }

  /** The shell has ended, and with it the command that it ran; all that it printed has come. */
  void shellGone(ExitStatus shell) {
    redaction.end();
    endCurrent(new CommandEnd.ShellGone(shell));
  }

  private void endCurrent(CommandEnd.How how) {
    Current ended;
    CommandEnd end;
    synchronized (this) {
      if (current.isEmpty() || current.get().end().isDone()) {
        return;
      }
      ended = current.get();
      ended.log().close();
      end = new CommandEnd(how, ring.end(), ended.log().bytes(), ended.log().truncated());
      logging = false;
    }
    ended.end().complete(end);
  }

  synchronized Prepared prepare(CommandId command, long logCap) {
    // One whose start could not be stored has no end.
    current.ifPresent(c -> c.log().close());
    var end = new CompletableFuture<CommandEnd>();
    var next = new Current(command, new CommandLog(logs, command, logCap), end);
    current = Optional.of(next);
    logging = true;
    if (gone.isDone()) {
      end.complete(new CommandEnd(new CommandEnd.ShellGone(gone.join()), ring.end(), 0, false));
    }
    return new Prepared(ring.end(), end);
  }

  /** From now on a frame of {@code nonce} ends the command; the status of the one before it. */
  synchronized int await(String nonce) {
    framing.await(nonce);
    return lastStatus;
  }

  synchronized void redact(String service, byte[] secret) {
    redaction.add(service, secret);
  }

  /** The end of {@code command}, if that is the newest. */
  synchronized Optional<CompletionStage<CommandEnd>> end(CommandId command) {
    return current.filter(c -> c.id().equals(command)).map(Current::end);
  }

  /** Bytes of the running command's log. */
  synchronized long logBytes() {
    return current.map(c -> c.log().bytes()).orElse(0L);
  }

  /** Called after every piece of output, on the thread that read it. */
  synchronized void onOutput(Runnable listener) {
    onOutput = listener;
  }
}
