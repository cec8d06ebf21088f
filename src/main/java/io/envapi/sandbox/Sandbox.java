package io.envapi.sandbox;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.process.ProcessIdentity;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One tier of confinement. Methods block (files, spawning) and are called on threads that may; all
 * are safe for concurrent use.
 */
public interface Sandbox {

  SandboxTier tier();

  /** The layers in force, for readiness and operators. */
  Layers layers();

  /**
   * The directories of an environment, made and given to {@code uid} where they are missing.
   *
   * @param uid the uid set aside for the environment; a tier without uids of its own ignores it
   */
  Result<Workspace> prepare(EnvironmentId environment, int uid);

  /** Where the directories of an environment are, whether they exist or not. */
  Workspace workspace(EnvironmentId environment, int uid);

  /**
   * A terminal whose slave the environment's shells can open by the name {@code tty} tells them.
   */
  Result<Terminal> openTerminal(EnvironmentId environment, Workspace workspace, boolean network);

  /** The absolute paths by which the environment's shells know their workspace. */
  List<String> workspaceNames(Workspace workspace);

  /** Starts a shell. Refused with {@code SandboxFailed} and nothing left behind when it cannot. */
  Result<Started> start(Launch launch);

  /** The process that keeps the environment's namespaces alive, where the tier has one. */
  Optional<ProcessIdentity> holder(EnvironmentId environment);

  /**
   * Completes when what keeps the environment's processes alive has ended without having been
   * stopped; the processes are gone with it. Never completes where the tier has nothing such, or
   * nothing has been started.
   */
  CompletableFuture<Void> lost(EnvironmentId environment);

  /** Ends every process of the environment that the tier itself keeps, such as the holder. */
  void stop(EnvironmentId environment);

  /** Empties the workspace and the logs; the directories stay. False when something is left. */
  boolean wipe(Workspace workspace);

  /**
   * Stops the environment and deletes everything it has on the host. False when something is left.
   */
  boolean remove(EnvironmentId environment, Workspace workspace);

  /**
   * After a restart: ends what an earlier service left running of this environment, found by the
   * recorded identities and by what the tier itself can find.
   *
   * @return how many processes were killed
   */
  int reconcile(EnvironmentId environment, List<ProcessIdentity> recorded);
}
