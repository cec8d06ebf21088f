package io.envapi.environment;

import io.envapi.id.EnvironmentId;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.persistence.query.PersistenceQuery;
import org.apache.pekko.persistence.query.javadsl.CurrentEventsByPersistenceIdQuery;
import org.apache.pekko.stream.javadsl.Sink;

/**
 * The events of environments as the journal has them, also of those that are deleted. Who may read
 * them is not asked here.
 */
public final class EnvironmentHistory {

  /**
   * @param number of the event: 1 for the first of its environment, then one by one, for good
   */
  public record Stored(long number, EnvironmentEvent event) {}

  private final ActorSystem<?> system;

  public EnvironmentHistory(ActorSystem<?> system) {
    this.system = system;
  }

  /** The oldest {@code most} events after the one with the number {@code after} that are kept. */
  public CompletionStage<List<Stored>> read(EnvironmentId id, long after, int most) {
    return PersistenceQuery.get(system)
        .getReadJournalFor(CurrentEventsByPersistenceIdQuery.class, "jdbc-read-journal")
        .currentEventsByPersistenceId(
            EnvironmentActor.persistenceId(id).id(), after + 1, Long.MAX_VALUE)
        .take(most)
        .map(each -> new Stored(each.sequenceNr(), (EnvironmentEvent) each.event()))
        .runWith(Sink.seq(), system);
  }
}
