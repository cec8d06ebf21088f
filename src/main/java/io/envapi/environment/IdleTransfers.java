package io.envapi.environment;

import io.envapi.files.FileTree;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Closes the transfers whose caller is gone without a word. Looks only while some are open. */
final class IdleTransfers {

  private final Executor executor;
  private final Set<FileTree> watched = ConcurrentHashMap.newKeySet();

  IdleTransfers(Executor executor) {
    this.executor = executor;
  }

  /** To be called after a transfer was opened. */
  void watch(FileTree files) {
    if (watched.add(files)) {
      later(files);
    }
  }

  private void later(FileTree files) {
    long wait = FileTree.TRANSFER_IDLE.toMillis() / 2;
    CompletableFuture.delayedExecutor(wait, TimeUnit.MILLISECONDS, executor)
        .execute(() -> look(files));
  }

  private void look(FileTree files) {
    watched.remove(files);
    if (files.closeIdleTransfers(FileTree.TRANSFER_IDLE)) {
      watch(files);
    }
  }
}
