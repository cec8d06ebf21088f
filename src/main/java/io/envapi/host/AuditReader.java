package io.envapi.host;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.CborSerializable;
import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditFilter;
import io.envapi.audit.AuditLog;
import io.envapi.audit.AuditPage;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a host's audit log for the others. Not a part of {@link HostActor}, since it goes on when
 * the journal fails.
 */
final class AuditReader {

  private static final Logger LOG = LoggerFactory.getLogger(AuditReader.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Asks for the newest events that pass the filter. */
  record Read(AuditFilter filter, ActorRef<Reply> replyTo) implements CborSerializable {}

  sealed interface Reply extends CborSerializable {}

  /**
   * @param lines oldest first
   * @param truncated the search ended before the oldest, because it had read enough
   */
  record Lines(List<AuditLine> lines, boolean truncated) implements Reply {
    Lines {
      lines = List.copyOf(lines);
    }
  }

  /** The log could not be read. */
  record Unreadable() implements Reply {}

  private AuditReader() {}

  /**
   * @param disk where the log is read
   */
  static Behavior<Read> create(AuditLog log, Executor disk) {
    return Behaviors.receiveMessage(
        read -> {
          disk.execute(() -> read.replyTo().tell(search(log, read.filter())));
          return Behaviors.same();
        });
  }

  private static Reply search(AuditLog log, AuditFilter filter) {
    try {
      AuditPage page = log.search(filter);
      return new Lines(page.events().stream().map(AuditReader::line).toList(), page.truncated());
    } catch (IOException | RuntimeException e) {
      LOG.error("the audit log cannot be read", e);
      return new Unreadable();
    }
  }

  /** As text, which keeps decimals as they are. */
  private static AuditLine line(AuditEvent event) {
    try {
      return new AuditLine(event.at(), JSON.writeValueAsString(event.json()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("not writable as JSON", e);
    }
  }
}
