package io.envapi.http;

import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.files.FileBytes;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TransferStep;
import io.envapi.host.Environments;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.apache.pekko.NotUsed;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * Carries the bytes of one transfer between a connection and the host that has the file, a few
 * pieces at a time, so that neither side holds more than those.
 */
final class FileStream {

  /** Pieces on their way at once. */
  private static final int AHEAD = 3;

  /** Downloads in large pieces at once; readers that are slow would hold the heap otherwise. */
  private static final Semaphore LARGE = new Semaphore(16);

  /** What a caller may go on sending after its upload was refused, before it is cut off. */
  private static final long MOST_IGNORED = 96L << 20;

  /** For a step that waits for the disk. */
  static final Duration DISK_WORK = Duration.ofMinutes(10);

  private final Environments environments;
  private final EnvironmentId environment;
  private volatile Optional<Environments.Place> found = Optional.empty();

  FileStream(Environments environments, EnvironmentId environment) {
    this.environments = environments;
    this.environment = environment;
  }

  /** The first step, which finds out where the environment is. */
  CompletionStage<Result<TransferAnswer>> open(AccountId account, TransferStep step) {
    return environments
        .<Environment.TransferReply>environment(
            account,
            environment,
            DISK_WORK,
            (place, replyTo) -> {
              found = Optional.of(place);
              return new Environment.Transfer(step, place.quotas(), replyTo);
            })
        .thenApply(FileStream::result);
  }

  CompletionStage<Result<TransferAnswer>> step(TransferStep step) {
    return environments
        .<Environment.TransferReply>again(
            environment,
            found.orElseThrow(),
            DISK_WORK,
            (place, replyTo) -> new Environment.Transfer(step, place.quotas(), replyTo))
        .thenApply(FileStream::result);
  }

  private static Result<TransferAnswer> result(Environment.TransferReply reply) {
    return switch (reply) {
      case Environment.Transferred(var answer) -> Result.ok(answer);
      case Environment.Refused(var failure) -> Result.refused(failure);
    };
  }

  /** The bytes from {@code first} to before {@code end}; the transfer ends with them. */
  Source<ByteString, ?> bytes(String transfer, long first, long end) {
    return Source.lazySource(() -> inPieces(transfer, first, end))
        .watchTermination(
            (kept, done) -> {
              done.whenComplete((_, _) -> close(transfer));
              return kept;
            });
  }

  private Source<ByteString, ?> inPieces(String transfer, long first, long end) {
    if (!environments.isHere(found.orElseThrow()) || !LARGE.tryAcquire()) {
      return inPieces(transfer, first, end, FileBytes.MOST);
    }
    return inPieces(transfer, first, end, FileBytes.MOST_LOCAL)
        .watchTermination(
            (kept, done) -> {
              done.whenComplete((_, _) -> LARGE.release());
              return kept;
            });
  }

  private Source<ByteString, NotUsed> inPieces(String transfer, long first, long end, int most) {
    return Source.<Long, Long>unfold(
            first,
            at ->
                at >= end
                    ? Optional.empty()
                    : Optional.of(Pair.create(Math.min(end, at + most), at)))
        .mapAsync(AHEAD, at -> piece(transfer, at, (int) Math.min(most, end - at)))
        .map(
            piece -> {
              if (piece.length() == 0) {
                // The length has been promised.
                throw new IOException("the file became shorter");
              }
              return ByteString.fromArrayUnsafe(piece.array());
            });
  }

  /** The bytes of what has no length yet, to its end. */
  Source<ByteString, NotUsed> allBytes(String transfer) {
    return Source.<Long, ByteString>unfoldAsync(
            0L,
            at ->
                piece(transfer, at, FileBytes.MOST)
                    .thenApply(
                        piece ->
                            piece.length() == 0
                                ? Optional.<Pair<Long, ByteString>>empty()
                                : Optional.of(
                                    Pair.create(
                                        at + piece.length(),
                                        ByteString.fromArrayUnsafe(piece.array())))))
        .watchTermination(
            (kept, done) -> {
              done.whenComplete((_, _) -> close(transfer));
              return NotUsed.getInstance();
            });
  }

  private CompletionStage<FileBytes> piece(String transfer, long at, int length) {
    return step(new TransferStep.Read(transfer, at, length))
        .thenCompose(
            result ->
                switch (result) {
                  case Result.Ok<TransferAnswer>(TransferAnswer.Piece(var bytes)) ->
                      CompletableFuture.completedStage(bytes);
                  case Result.Ok<TransferAnswer>(var other) ->
                      CompletableFuture.failedStage(new IllegalStateException(other.toString()));
                  case Result.Refused<TransferAnswer>(var failure) ->
                      CompletableFuture.failedStage(new IOException(failure.toString()));
                });
  }

  void close(String transfer) {
    // Without an answer the host closes it by itself, after a while.
    step(new TransferStep.Close(transfer))
        .exceptionally(_ -> Result.ok(new TransferAnswer.Closed()));
  }

  private record Arrived(long size, Optional<Failure> refusal, long ignored) {}

  /**
   * Sends on what arrives.
   *
   * @param then what follows when all of it is there
   * @return what {@code then} answers, or why it did not come to that; fails when the body breaks
   *     off
   */
  CompletionStage<Result<TransferAnswer>> upload(
      String transfer,
      Source<ByteString, ?> body,
      Materializer materializer,
      Function<Long, TransferStep> then) {
    return body.batchWeighted(
            FileBytes.MOST, piece -> (long) piece.size(), piece -> piece, ByteString::concat)
        .mapConcat(FileStream::pieces)
        .runFoldAsync(
            new Arrived(0, Optional.empty(), 0),
            (so, piece) -> append(transfer, so, piece),
            materializer)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                close(transfer);
              }
            })
        .thenCompose(
            arrived ->
                arrived
                    .refusal()
                    .map(
                        why ->
                            CompletableFuture.completedStage(Result.<TransferAnswer>refused(why)))
                    .orElseGet(() -> step(then.apply(arrived.size()))));
  }

  private static List<ByteString> pieces(ByteString bytes) {
    List<ByteString> pieces = new ArrayList<>();
    ByteString rest = bytes;
    while (rest.size() > FileBytes.MOST) {
      pieces.add(rest.take(FileBytes.MOST));
      rest = rest.drop(FileBytes.MOST);
    }
    pieces.add(rest);
    return pieces;
  }

  private CompletionStage<Arrived> append(String transfer, Arrived so, ByteString piece) {
    if (so.refusal().isPresent()) {
      // An answer is lost on a client that is still sending, so it may send on for a while.
      long ignored = so.ignored() + piece.size();
      return ignored > MOST_IGNORED
          ? CompletableFuture.failedStage(new BrokenBody("it goes on after it was refused"))
          : CompletableFuture.completedStage(new Arrived(so.size(), so.refusal(), ignored));
    }
    var bytes = new FileBytes(piece.toArrayUnsafe());
    return step(new TransferStep.Append(transfer, so.size(), bytes))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Ok<TransferAnswer> _ ->
                      new Arrived(so.size() + piece.size(), Optional.empty(), 0);
                  case Result.Refused<TransferAnswer>(var failure) ->
                      new Arrived(so.size(), Optional.of(failure), 0);
                });
  }
}
