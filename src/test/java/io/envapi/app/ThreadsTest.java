package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import org.junit.jupiter.api.Test;

/** What the service's threads stand in line with, and what not. */
class ThreadsTest {

  private static final int MANY = 100;

  @Test
  void whatFillsOneKindStopsNoOther() {
    Threads threads = Threads.start();
    var kinds = List.of(threads.files(), threads.blocking(), threads.rows(), threads.beat());
    var end = new CountDownLatch(1);
    try {
      for (int filled = 1; filled < kinds.size(); filled++) {
        fill(kinds.get(filled - 1), end);
        for (ExecutorService other : kinds.subList(filled, kinds.size())) {
          assertThat(CompletableFuture.runAsync(() -> {}, other))
              .succeedsWithin(Duration.ofSeconds(20));
        }
      }
    } finally {
      end.countDown();
      kinds.forEach(ExecutorService::shutdown);
    }
  }

  private static void fill(ExecutorService threads, CountDownLatch end) {
    for (int i = 0; i < MANY; i++) {
      threads.execute(
          () -> {
            try {
              end.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
  }
}
