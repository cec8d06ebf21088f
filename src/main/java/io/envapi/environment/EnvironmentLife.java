package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.id.EnvironmentId;
import io.envapi.sandbox.SandboxTier;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.Optional;

/** What the actor of an environment knows of it and does not store. */
final class EnvironmentLife {

  /** Measuring is a walk: a figure is good for as long as this. */
  private static final Duration GOOD = Duration.ofSeconds(1);

  private final EnvironmentId id;
  private final SandboxTier tier;
  private Optional<Workspace> workspace = Optional.empty();
  private Optional<Long> diskBytes = Optional.empty();

  /** When it was measured, by {@link System#nanoTime}. */
  private long diskMeasuredAt;

  private int opening;
  private long lastActivityAt;
  private boolean usedSinceMeasured;
  private boolean busy = true;
  private Optional<Failure> unprepared = Optional.empty();

  EnvironmentLife(EnvironmentId id, SandboxTier tier) {
    this.id = id;
    this.tier = tier;
  }

  void prepared(Workspace ready) {
    workspace = Optional.of(ready);
    unprepared = Optional.empty();
  }

  void unprepared(Failure why) {
    unprepared = Optional.of(why);
  }

  /** Why there is no workspace, after a recovery. */
  Optional<Failure> unprepared() {
    return unprepared;
  }

  void busy(boolean now) {
    busy = now;
  }

  /** Whether it is being prepared, emptied or removed, for which requests wait. */
  boolean isBusy() {
    return busy;
  }

  /** Only once it is prepared, which every request waits for. */
  Workspace workspace() {
    return workspace.orElseThrow();
  }

  /** Somebody uses the environment: {@code at} in epoch ms. */
  void used(long at) {
    lastActivityAt = at;
    usedSinceMeasured = true;
  }

  /** As stored, after a restart. */
  void lastUsed(long at) {
    lastActivityAt = at;
  }

  long lastActivityAt() {
    return lastActivityAt;
  }

  void measured(long bytes) {
    diskBytes(bytes);
    diskMeasuredAt = System.nanoTime();
  }

  /** Counted since it was measured. */
  void diskBytes(long bytes) {
    diskBytes = Optional.of(bytes);
  }

  /** Whether processes had the time to remove much since it was measured. */
  boolean isDiskOld() {
    return System.nanoTime() - diskMeasuredAt >= GOOD.toNanos();
  }

  /** Whether the disk is to be measured again; asked once for each use. */
  boolean takeUsedSinceMeasured() {
    boolean used = usedSinceMeasured;
    usedSinceMeasured = false;
    return used;
  }

  void opening() {
    opening++;
  }

  void opened() {
    opening = Math.max(0, opening - 1);
  }

  boolean isOpening() {
    return opening > 0;
  }

  /** Why no other shell can be opened. */
  Optional<Failure> refusesShell(EnvironmentState.Present present, Quotas quotas) {
    if (present.isArchived()) {
      return Optional.of(new Failure.EnvironmentArchived());
    }
    long live = (long) present.running().size() + opening;
    if (live >= quotas.maxShellsPerEnvironment()) {
      return Optional.of(
          new Failure.QuotaExceeded(
              "max_shells_per_environment", live, quotas.maxShellsPerEnvironment()));
    }
    return overDisk(quotas);
  }

  /** By what is known. */
  Optional<Failure> overDisk(Quotas quotas) {
    return diskBytes
        .filter(bytes -> bytes > quotas.maxDiskBytes())
        .map(bytes -> new Failure.QuotaExceeded("max_disk_bytes", bytes, quotas.maxDiskBytes()));
  }

  EnvironmentView view(EnvironmentState.Present present) {
    return new EnvironmentView(
        id,
        present.account(),
        present.spec(),
        present.isArchived() ? EnvironmentView.State.ARCHIVED : EnvironmentView.State.ACTIVE,
        tier,
        present.createdAt(),
        present.updatedAt(),
        Math.max(lastActivityAt, present.createdAt()),
        present.archivedAt(),
        present.shells(),
        diskBytes);
  }
}
