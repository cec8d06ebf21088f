package io.envapi.environment;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The rows of the journal, events and snapshots, for what nobody can ask for any more. Its stages
 * complete when the rows are gone, and fail when the journal cannot be reached.
 */
public interface JournalRows {

  /** Deletes all rows of these shells, whose actors have ended. */
  CompletionStage<Void> forget(List<ShellId> shells);

  /** Deletes all rows of an environment and of every shell it ever had. */
  CompletionStage<Void> forget(EnvironmentId environment);
}
