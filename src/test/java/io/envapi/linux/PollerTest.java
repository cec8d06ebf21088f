package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PollerTest {

  private static final byte[] DATA = "x".getBytes(StandardCharsets.US_ASCII);

  private final Poller poller = Poller.start();
  private final AtomicInteger calls = new AtomicInteger();

  @AfterEach
  void stop() {
    poller.close();
  }

  /** Returns once the poller handled everything that was ready before. */
  private void settle() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      CountDownLatch seen = new CountDownLatch(1);
      try (Pipe pipe = Pipe.open()) {
        pipe.write().write(DATA, 0, 1);
        var registration = poller.register(pipe.read(), seen::countDown);
        registration.arm();
        assertThat(seen.await(10, TimeUnit.SECONDS)).isTrue();
        registration.cancel();
      }
    }
  }

  @Test
  void tellsOncePerArming() throws Exception {
    try (Pipe pipe = Pipe.open()) {
      var registration = poller.register(pipe.read(), calls::incrementAndGet);
      pipe.write().write(DATA, 0, 1);
      settle();
      assertThat(calls).hasValue(0);
      registration.arm();
      await().until(() -> calls.get() == 1);
      pipe.write().write(DATA, 0, 1);
      settle();
      assertThat(calls).hasValue(1);
      registration.arm();
      await().until(() -> calls.get() == 2);
      registration.cancel();
    }
  }

  @Test
  void theEndOfAPipeIsToldToWhoeverAskedOnly() throws Exception {
    Pipe pipe = Pipe.open();
    var registration = poller.register(pipe.read(), calls::incrementAndGet);
    pipe.write().close();
    settle();
    assertThat(calls).hasValue(0);
    registration.arm();
    await().until(() -> calls.get() == 1);
    registration.cancel();
    pipe.close();
  }

  @Test
  void aReaderThatGoesIsToldWhileRoomIsAskedForOnTheSameEnd() throws Exception {
    Pipe pipe = Pipe.open();
    pipe.write().setNonBlocking();
    byte[] block = new byte[pipe.capacity()];
    int queued = 0;
    for (int n = pipe.write().write(block, 0, block.length);
        n > 0;
        n = pipe.write().write(block, 0, block.length)) {
      queued += n;
    }
    assertThat(Pipe.queuedBytes(pipe.write())).isEqualTo(queued);
    assertThat(Pipe.queuedBytes(pipe.read())).isEqualTo(queued);
    CountDownLatch gone = new CountDownLatch(1);
    var hangup = poller.registerHangup(pipe.write(), gone::countDown);
    var room = poller.registerWritable(pipe.write(), calls::incrementAndGet);
    room.arm();
    settle();
    assertThat(calls).hasValue(0);
    assertThat(gone.getCount()).isEqualTo(1);
    pipe.read().read(block, 0, block.length);
    await().until(() -> calls.get() == 1);
    pipe.read().close();
    assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
    hangup.cancel();
    room.cancel();
    pipe.close();
  }

  @Test
  void noCallbackStartsOnceCancelled() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      AtomicInteger after = new AtomicInteger();
      boolean[] cancelled = {false};
      try (Pipe pipe = Pipe.open()) {
        var registration =
            poller.register(
                pipe.read(),
                () -> {
                  if (cancelled[0]) {
                    after.incrementAndGet();
                  }
                });
        registration.arm();
        pipe.write().write(DATA, 0, 1);
        registration.cancel();
        cancelled[0] = true;
        registration.arm();
      }
      assertThat(after).hasValue(0);
    }
    settle();
  }

  @Test
  void aFailingCallbackDoesNotEndThePoller() throws Exception {
    try (Pipe pipe = Pipe.open()) {
      pipe.write().write(DATA, 0, 1);
      CountDownLatch ran = new CountDownLatch(1);
      var registration =
          poller.register(
              pipe.read(),
              () -> {
                ran.countDown();
                throw new IllegalStateException("meant to fail");
              });
      registration.arm();
      assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
      settle();
      registration.cancel();
    }
  }

  @Test
  void twoThousandDescriptorsNeedNoThreads() {
    List<Pipe> pipes = new ArrayList<>();
    List<Poller.Registration> registrations = new ArrayList<>();
    int threads = Thread.activeCount();
    for (int i = 0; i < 2_000; i++) {
      Pipe pipe = Pipe.open();
      pipes.add(pipe);
      var registration = poller.register(pipe.read(), calls::incrementAndGet);
      registration.arm();
      registrations.add(registration);
    }
    pipes.forEach(pipe -> pipe.write().write(DATA, 0, 1));
    await().atMost(Duration.ofSeconds(20)).until(() -> calls.get() == 2_000);
    assertThat(Thread.activeCount()).isLessThan(threads + 10);
    registrations.forEach(Poller.Registration::cancel);
    pipes.forEach(Pipe::close);
  }

  @Test
  void aFloodArrivesWholeAndFast() throws Exception {
    long size = 200L << 20;
    try (Pipe out = Pipe.open()) {
      out.setCapacity(1 << 20);
      out.read().setNonBlocking();
      AtomicLong received = new AtomicLong();
      CountDownLatch done = new CountDownLatch(1);
      byte[] buffer = new byte[64 * 1024];
      Poller.Registration[] registration = new Poller.Registration[1];
      registration[0] =
          poller.register(
              out.read(),
              () -> {
                int n = out.read().read(buffer, 0, buffer.length);
                while (n > 0) {
                  received.addAndGet(n);
                  n = out.read().read(buffer, 0, buffer.length);
                }
                if (n == 0) {
                  done.countDown();
                } else {
                  registration[0].arm();
                }
              });
      registration[0].arm();
      long start = System.nanoTime();
      Child child =
          Run.SPAWNER.spawn(
              Spawn.of(List.of("/usr/bin/head", "-c", Long.toString(size), "/dev/zero"))
                  .descriptors(Map.of(1, out.write())));
      out.write().close();
      assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
      Duration taken = Duration.ofNanos(System.nanoTime() - start);
      assertThat(received).hasValue(size);
      assertThat(Run.exit(child)).isEqualTo(new ExitStatus.Exited(0));
      assertThat(taken).isLessThan(Duration.ofSeconds(20));
      registration[0].cancel();
    }
  }
}
