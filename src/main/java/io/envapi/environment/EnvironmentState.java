package io.envapi.environment;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.CborSerializable;
import io.envapi.account.EnvironmentSpec;
import io.envapi.id.AccountId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.shell.CommandMarks;
import io.envapi.shell.ShellEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The life of an environment. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = EnvironmentState.Absent.class, name = "absent"),
  @JsonSubTypes.Type(value = EnvironmentState.Present.class, name = "present"),
  @JsonSubTypes.Type(value = EnvironmentState.Gone.class, name = "gone"),
})
public sealed interface EnvironmentState extends CborSerializable {

  /** Why the shells of an environment are being ended, and its files deleted. */
  enum Emptying {
    NONE,
    FOR_RESET,
    FOR_ARCHIVE,
    FOR_DELETE
  }

  /** Not made yet. */
  record Absent() implements EnvironmentState {}

  /** Deleted; what is left of it on the host is being removed. */
  record Gone(AccountId account, int uid) implements EnvironmentState {}

  /**
   * @param uid the system uid set aside for it
   * @param shells oldest first; of those that ended the newest {@link #KEPT}
   * @param lastShell the highest number of a shell ever
   * @param holder the process that kept its sandbox when the newest shell was opened
   * @param emptying whether it is being emptied, and why
   */
  record Present(
      AccountId account,
      EnvironmentSpec spec,
      int uid,
      long createdAt,
      long updatedAt,
      Optional<Long> archivedAt,
      List<ShellRecord> shells,
      int lastShell,
      Optional<ProcessIdentity> holder,
      Emptying emptying)
      implements EnvironmentState {

    /** Shells remembered after their end. */
    static final int KEPT = 500;

    public Present {
      shells = shells == null ? List.of() : List.copyOf(shells);
      emptying = emptying == null ? Emptying.NONE : emptying;
      holder = holder == null ? Optional.empty() : holder;
    }

    boolean isArchived() {
      return archivedAt.isPresent();
    }

    Optional<ShellRecord> shell(ShellId id) {
      return shells.stream().filter(s -> s.identity().id().equals(id)).findFirst();
    }

    List<ShellRecord> running() {
      return shells.stream().filter(ShellRecord::isRunning).toList();
    }

    private Present shells(
        List<ShellRecord> next, long at, int last, Optional<ProcessIdentity> keeper) {
      return new Present(
          account, spec, uid, createdAt, at, archivedAt, next, last, keeper, emptying);
    }

    private Present opened(EnvironmentEvent.ShellOpened event) {
      List<ShellRecord> next = new ArrayList<>(shells);
      if (next.size() >= KEPT) {
        next.stream().filter(s -> !s.isRunning()).findFirst().ifPresent(next::remove);
      }
      next.add(new ShellRecord(event.shell(), Optional.empty(), 0));
      int last = Math.max(lastShell, event.shell().id().number());
      return shells(next, event.shell().createdAt(), last, event.holder());
    }

    private Present ended(ShellId id, ShellEnd end) {
      List<ShellRecord> next = new ArrayList<>(shells);
      next.replaceAll(
          s ->
              s.identity().id().equals(id) && s.isRunning()
                  ? new ShellRecord(s.identity(), Optional.of(end), s.told())
                  : s);
      return shells(next, end.at(), lastShell, holder);
    }

    /**
     * {@code told} as in {@link ShellRecord}; nothing that anybody but the events' readers sees.
     */
    private Present told(ShellId id, int told) {
      List<ShellRecord> next = new ArrayList<>(shells);
      next.replaceAll(
          s -> s.identity().id().equals(id) ? new ShellRecord(s.identity(), s.end(), told) : s);
      return shells(next, updatedAt, lastShell, holder);
    }

    private Present emptied(long at, Optional<Long> archived) {
      return new Present(
          account,
          spec,
          uid,
          createdAt,
          at,
          archived,
          List.of(),
          lastShell,
          Optional.empty(),
          Emptying.NONE);
    }

    private Present archived(long at) {
      return new Present(
          account,
          spec,
          uid,
          createdAt,
          at,
          Optional.of(at),
          shells,
          lastShell,
          Optional.empty(),
          Emptying.NONE);
    }

    private Present emptying(Emptying why) {
      return new Present(
          account, spec, uid, createdAt, updatedAt, archivedAt, shells, lastShell, holder, why);
    }
  }

  /** The state after {@code event}. */
  default EnvironmentState with(EnvironmentEvent event) {
    return switch (event) {
      case EnvironmentEvent.Created(var account, var spec, var uid, var at) ->
          new Present(
              account,
              spec,
              uid,
              at,
              at,
              Optional.empty(),
              List.of(),
              0,
              Optional.empty(),
              Emptying.NONE);
      case EnvironmentEvent.ShellOpened opened -> present().opened(opened);
      case EnvironmentEvent.ShellEnded(var shell, var end) -> present().ended(shell, end);
      case EnvironmentEvent.CommandStarted started ->
          present().told(started.command().shell(), CommandMarks.beginning(started.command()));
      case EnvironmentEvent.CommandFinished finished ->
          present().told(finished.command().shell(), CommandMarks.end(finished.command()));
      case EnvironmentEvent.Reconciled _ -> this;
      case EnvironmentEvent.EmptyingBegun(var why, _) -> present().emptying(why);
      case EnvironmentEvent.Reset(var at) -> present().emptied(at, Optional.empty());
      case EnvironmentEvent.Archived(var at) -> present().archived(at);
      case EnvironmentEvent.Deleted(_) -> new Gone(present().account(), present().uid());
    };
  }

  /** Events of a shell or a change can only follow the creation. */
  private Present present() {
    if (this instanceof Present present) {
      return present;
    }
    throw new IllegalStateException("an event of an environment that is not there");
  }
}
