package io.envapi.app;

import com.typesafe.config.Config;
import io.envapi.metrics.Metrics;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.persistence.AtomicWrite;
import org.apache.pekko.persistence.PersistentRepr;
import org.apache.pekko.persistence.jdbc.journal.JdbcAsyncWriteJournal;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.concurrent.Future;
import scala.runtime.BoxedUnit;
import scala.util.Try;

/** The journal, measured. Made by its class name. */
public final class MeteredJournal extends JdbcAsyncWriteJournal {

  /** How the journal of an actor system finds the metrics. */
  static final class Meter extends Setup {
    private final Metrics metrics;

    Meter(Metrics metrics) {
      this.metrics = metrics;
    }
  }

  private final java.util.Optional<Metrics> metrics;

  /** For Pekko, which makes it by reflection. */
  public MeteredJournal(Config config) {
    super(config);
    this.metrics =
        context().system().settings().setup().get(Meter.class).map(meter -> meter.metrics);
  }

  @Override
  public Future<Seq<Try<BoxedUnit>>> asyncWriteMessages(Seq<AtomicWrite> messages) {
    long begun = System.nanoTime();
    Future<Seq<Try<BoxedUnit>>> written = super.asyncWriteMessages(messages);
    metrics.ifPresent(
        it ->
            written.onComplete(
                result -> {
                  it.journalWrote(System.nanoTime() - begun, result.isFailure());
                  return BoxedUnit.UNIT;
                },
                context().dispatcher()));
    return written;
  }

  @Override
  public Future<BoxedUnit> asyncReplayMessages(
      String persistenceId,
      long fromSequenceNr,
      long toSequenceNr,
      long max,
      Function1<PersistentRepr, BoxedUnit> replay) {
    Future<BoxedUnit> read =
        super.asyncReplayMessages(persistenceId, fromSequenceNr, toSequenceNr, max, replay);
    metrics.ifPresent(
        it ->
            read.failed()
                .foreach(
                    _ -> {
                      it.journalReadFailed();
                      return BoxedUnit.UNIT;
                    },
                    context().dispatcher()));
    return read;
  }
}
