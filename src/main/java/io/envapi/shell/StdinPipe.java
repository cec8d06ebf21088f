package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Errno;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Poller;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Bytes on their way to a shell's standard input (or its terminal), in the order they were sent. A
 * write is answered when the pipe has taken all of it; while the pipe is full nothing is lost and
 * nobody else waits.
 */
final class StdinPipe implements AutoCloseable {

  /** Bytes that may wait for a slow reader. */
  private static final long MOST_WAITING = 8L << 20;

  private static final Failure CLOSED = new Failure.Conflict("the standard input was closed");

  private static final class Pending {
    final byte[] bytes;
    int done;
    final boolean last;
    final CompletableFuture<Result<Long>> answer = new CompletableFuture<>();

    Pending(byte[] bytes, int done, boolean last) {
      this.bytes = bytes;
      this.done = done;
      this.last = last;
    }
  }

  private final FileDescriptor target;
  private final Poller.Registration writable;
  private final Executor later;
  private final Deque<Pending> queue = new ArrayDeque<>();
  private long accepted;
  private long waiting;
  private long progress;
  private boolean closed;

  /**
   * @param patience how long nothing may be read before a waiting write is refused
   */
  StdinPipe(FileDescriptor target, Poller poller, Duration patience, Executor executor) {
    this.target = target;
    this.later =
        CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS, executor);
    // Elsewhere: whoever writes asks the poller while holding the lock that this takes.
    this.writable = poller.registerWritable(target, () -> executor.execute(this::pump));
  }

  /**
   * Sends {@code bytes}.
   *
   * @param offset where they stand among all bytes ever sent; those below what was accepted already
   *     are left out, so that a repeated write arrives once
   * @param last whether the input ends with them
   * @param patient whether they wait for as long as it takes
   * @return how many bytes were accepted ever, once the reader has them
   */
  CompletionStage<Result<Long>> write(
      byte[] bytes, OptionalLong offset, boolean last, boolean patient) {
    Pending pending;
    synchronized (this) {
      long from = offset.orElse(accepted);
      boolean repeated = offset.isPresent() && from + bytes.length <= accepted;
      boolean ends = closed || queue.stream().anyMatch(each -> each.last);
      if (ends && !repeated) {
        return CompletableFuture.completedStage(Result.refused(CLOSED));
      }
      if (from > accepted) {
        return CompletableFuture.completedStage(
            Result.refused(Failure.invalid("is past the bytes sent so far", "body", "offset")));
      }
      int known = (int) Math.min(bytes.length, accepted - from);
      // One that is larger by itself may have a reader.
      if (waiting > 0 && waiting + bytes.length > MOST_WAITING) {
        return CompletableFuture.completedStage(Result.refused(new Failure.InputNotRead(accepted)));
      }
      pending = new Pending(bytes, known, last && !ends);
      accepted += bytes.length - known;
      waiting += bytes.length - known;
      queue.add(pending);
    }
    pump();
    if (!patient) {
      watch(pending);
    }
    return pending.answer;
  }

  private void watch(Pending pending) {
    long before;
    synchronized (this) {
      if (pending.answer.isDone()) {
        return;
      }
      before = progress;
    }
    later.execute(() -> expire(pending, before));
  }

  private void expire(Pending pending, long before) {
    synchronized (this) {
      if (!pending.answer.isDone() && progress == before) {
        fail(Optional.empty());
        return;
      }
    }
    watch(pending);
  }

  private synchronized void pump() {
    while (!queue.isEmpty()) {
      Pending head = queue.peekFirst();
      if (head.done < head.bytes.length && !send(head)) {
        return;
      }
      if (head.done == head.bytes.length) {
        queue.removeFirst();
        head.answer.complete(Result.ok(accepted - waiting));
        if (head.last) {
          closed = true;
          release();
        }
      }
    }
  }

  /** Whether the pipe took anything, or failed for good. */
  private boolean send(Pending head) {
    try {
      int written =
          target.write(head.bytes, head.done, Math.min(65536, head.bytes.length - head.done));
      if (written == 0) {
        writable.arm();
        return false;
      }
      head.done += written;
      waiting -= written;
      progress += written;
      return true;
    } catch (LinuxException e) {
      fail(Optional.of(CLOSED).filter(_ -> e.is(Errno.EPIPE)));
      return false;
    }
  }

  /**
   * Gives up what waits; what the reader has not taken was never accepted.
   *
   * @param reason empty when nothing reads it
   */
  private void fail(Optional<Failure> reason) {
    accepted -= waiting;
    waiting = 0;
    Failure failure = reason.orElse(new Failure.InputNotRead(accepted));
    queue.forEach(each -> each.answer.complete(Result.refused(failure)));
    queue.clear();
  }

  private void release() {
    if (target.isOpen()) {
      writable.cancel();
      target.close();
    }
  }

  /** Ends the input; what waits is refused. */
  @Override
  public synchronized void close() {
    closed = true;
    fail(Optional.of(CLOSED));
    release();
  }
}
