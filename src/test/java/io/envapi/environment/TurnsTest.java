package io.envapi.environment;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.files.FileOperation;
import io.envapi.files.SentPath;
import io.envapi.id.AccountId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How many of the shared threads anybody has at once, and who is next. */
class TurnsTest {

  private static final AccountId ALICE = new AccountId("alice");
  private static final FileOperation READ = new FileOperation.ReadFile(SentPath.of("f"), 0, 1);
  private static final FileOperation CHANGE = new FileOperation.MakeDirectory(SentPath.of("d"));

  /** What the shared threads have begun, or would next. */
  private final Queue<Runnable> begun = new ArrayDeque<>();

  private final List<String> done = new ArrayList<>();
  private final FileThreads files = new FileThreads(begun::add);

  private void give(Executor turns, String... names) {
    for (String name : names) {
      turns.execute(() -> done.add(name));
    }
  }

  private void give(Executor turns, int tasks) {
    IntStream.range(0, tasks).forEach(i -> give(turns, "task " + i));
  }

  private void end(int tasks) {
    IntStream.range(0, tasks).forEach(_ -> begun.remove().run());
  }

  @Test
  void theRestWaitsInOrder() {
    give(new Turns(begun::add, 2), "a", "b", "c", "d", "e");
    assertThat(begun).hasSize(2);
    end(1);
    assertThat(begun).hasSize(2);
    end(4);
    assertThat(done).containsExactly("a", "b", "c", "d", "e");
    assertThat(begun).isEmpty();
  }

  @Test
  void othersComeBeforeTheNextTurn() {
    give(new Turns(begun::add, 1), "a 1", "a 2");
    give(new Turns(begun::add, 1), "b 1", "b 2");
    end(4);
    assertThat(done).containsExactly("a 1", "b 1", "a 2", "b 2");
  }

  @Test
  void aTaskThatBreaksGivesItsTurnBack() {
    var turns = new Turns(begun::add, 1);
    turns.execute(
        () -> {
          throw new IllegalStateException("broken");
        });
    give(turns, "next");
    try {
      end(1);
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("broken");
    }
    end(1);
    give(turns, "later");
    end(1);
    assertThat(done).containsExactly("next", "later");
  }

  @Test
  void anEnvironmentHasAQuarterOfTheThreads() {
    give(files.of(ALICE).of(READ), 40);
    assertThat(begun).hasSize(FileThreads.ALL / 4);
  }

  @Test
  void anAccountHasHalfOfTheThreads() {
    IntStream.range(0, 5).forEach(_ -> give(files.of(ALICE).of(READ), 40));
    assertThat(begun).hasSize(FileThreads.ALL / 2);
    give(files.of(new AccountId("bob")).of(READ), "bob");
    assertThat(begun).hasSize(FileThreads.ALL / 2 + 1);
  }

  @Test
  void nobodyWaitsWithoutEnd() {
    FileTurns turns = files.of(ALICE);
    give(turns.of(CHANGE), 1);
    give(turns.of(CHANGE), FileTurns.MOST_WAITING - 1);
    assertThat(turns.isFull()).isFalse();
    give(turns.of(READ), FileTurns.MOST);
    assertThat(turns.isFull()).isTrue();
    end(1);
    end(1);
    assertThat(turns.isFull()).isFalse();
  }

  @Test
  void changesLeaveThreadsToReads() {
    FileTurns turns = files.of(ALICE);
    give(turns.of(CHANGE), 40);
    assertThat(begun).hasSize(1);
    give(turns.of(READ), "read");
    assertThat(begun).hasSize(2);
  }
}
