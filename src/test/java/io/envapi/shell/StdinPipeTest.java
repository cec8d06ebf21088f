package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Pipe;
import io.envapi.linux.Poller;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StdinPipeTest {

  private static final Duration PATIENCE = Duration.ofMillis(100);
  private static final OptionalLong NEXT = OptionalLong.empty();

  private final Poller poller = Poller.start();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Pipe pipe = Pipe.open();
  private final StdinPipe stdin;
  private final byte[] much = new byte[300_000];

  StdinPipeTest() {
    pipe.write().setNonBlocking();
    stdin = new StdinPipe(pipe.write(), poller, PATIENCE, threads);
    new Random(1).nextBytes(much);
  }

  @AfterEach
  void close() {
    stdin.close();
    pipe.close();
    poller.close();
    threads.shutdownNow();
  }

  private static Result<Long> answer(CompletionStage<Result<Long>> writing) throws Exception {
    return writing.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static Failure refused(CompletionStage<Result<Long>> writing) throws Exception {
    return switch (answer(writing)) {
      case Result.Refused<Long>(var failure) -> failure;
      case Result.Ok<Long>(var accepted) -> throw new AssertionError("accepted up to " + accepted);
    };
  }

  /** Everything up to the end of the input. */
  private Future<byte[]> reading() {
    return threads.submit(
        () -> {
          byte[] read = new byte[32 << 20];
          int size = 0;
          for (int n = 1; n > 0; size += n) {
            n = pipe.read().read(read, size, read.length - size);
          }
          return Arrays.copyOf(read, size);
        });
  }

  @Test
  void aWriteThatWasGivenUpCanBeRepeatedWithItsEnd() throws Exception {
    assertThat(refused(stdin.write(much, OptionalLong.of(0), true, false)))
        .isEqualTo(new Failure.InputNotRead(65536));
    Future<byte[]> read = reading();
    assertThat(answer(stdin.write(much, OptionalLong.of(0), true, false)))
        .isEqualTo(Result.ok((long) much.length));
    assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(much);
  }

  /**
   * What the poller tells takes no lock of the pipe: it would wait in it, and all shells with it.
   */
  @Test
  void noOtherShellWaitsForOneThatIsWrittenTo() throws Exception {
    stdin.write(much, NEXT, true, true);
    int taken;
    try (Pipe other = Pipe.open()) {
      other.write().writeAll(new byte[1]);
      synchronized (stdin) {
        taken = pipe.read().read(new byte[65536], 0, 65536);
        for (int i = 0; i < 3; i++) {
          var told = new CompletableFuture<Void>();
          var asked = poller.register(other.read(), () -> told.complete(null));
          asked.arm();
          told.get(20, TimeUnit.SECONDS);
          asked.cancel();
        }
      }
    }
    assertThat(reading().get(20, TimeUnit.SECONDS)).hasSize(much.length - taken);
  }

  @Test
  void nothingFollowsTheEnd() throws Exception {
    CompletionStage<Result<Long>> last = stdin.write(much, NEXT, true, true);
    assertThat(refused(stdin.write(new byte[1], NEXT, false, false)))
        .isInstanceOf(Failure.Conflict.class);
    assertThat(reading().get(20, TimeUnit.SECONDS)).isEqualTo(much);
    assertThat(answer(last)).isEqualTo(Result.ok((long) much.length));
    assertThat(refused(stdin.write(new byte[1], NEXT, true, false)))
        .isInstanceOf(Failure.Conflict.class);
  }

  @Test
  void thePatientWaitForAReader() throws Exception {
    CompletionStage<Result<Long>> waiting = stdin.write(much, NEXT, true, true);
    var impatient = new CompletableFuture<Void>();
    impatient.completeOnTimeout(null, 3 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
    assertThat(waiting.toCompletableFuture()).isNotDone();
    assertThat(reading().get(20, TimeUnit.SECONDS)).isEqualTo(much);
    assertThat(answer(waiting)).isEqualTo(Result.ok((long) much.length));
  }

  @Test
  void oneLargeWriteIsTakenAndManyAreBounded() throws Exception {
    byte[] large = new byte[9 << 20];
    CompletionStage<Result<Long>> first = stdin.write(large, NEXT, false, true);
    assertThat(refused(stdin.write(large, NEXT, false, true)))
        .isEqualTo(new Failure.InputNotRead(large.length));
    Future<byte[]> read = reading();
    assertThat(answer(first)).isEqualTo(Result.ok((long) large.length));
    answer(stdin.write(new byte[0], NEXT, true, false));
    assertThat(read.get(20, TimeUnit.SECONDS)).hasSize(large.length);
  }
}
