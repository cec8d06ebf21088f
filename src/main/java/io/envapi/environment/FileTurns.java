package io.envapi.environment;

import io.envapi.files.FileOperation;
import java.util.concurrent.Executor;

/** The turns that one environment's files have at the threads of all. */
final class FileTurns {

  static final int MOST = 8;

  /** As many as one account may ask at once, where that is not set otherwise. */
  static final int MOST_WAITING = 512;

  private final Turns all;
  private final Turns changes;

  FileTurns(Executor threads) {
    this.all = new Turns(threads, MOST);
    // They are made one after another anyway: no more threads need to wait for one another.
    this.changes = new Turns(all, 1);
  }

  /** Whether so much waits that most of those who asked for it must have given up. */
  boolean isFull() {
    return all.waiting() + changes.waiting() >= MOST_WAITING;
  }

  Executor all() {
    return all;
  }

  Executor of(FileOperation operation) {
    return switch (operation) {
      case FileOperation.ListDirectory _, FileOperation.ReadFile _, FileOperation.Search _ -> all;
      case FileOperation.WriteFile _,
          FileOperation.EditFile _,
          FileOperation.PatchFile _,
          FileOperation.MakeDirectory _,
          FileOperation.DeleteFile _,
          FileOperation.CopyFile _,
          FileOperation.MoveFile _,
          FileOperation.Transaction _ ->
          changes;
    };
  }
}
