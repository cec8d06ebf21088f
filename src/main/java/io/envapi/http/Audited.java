package io.envapi.http;

import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditLog;
import io.envapi.failure.Failure;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Scheduler;
import org.apache.pekko.stream.javadsl.Sink;
import scala.concurrent.ExecutionContextExecutor;

/**
 * Actions that belong into the audit log. None begins without room there, and none is answered
 * before its line is written. What was refused is told where it says something of the caller: not a
 * wrong parameter, but what was out of bounds.
 */
final class Audited {

  /** What is done. */
  @FunctionalInterface
  interface Action {
    CompletionStage<Answer> run(Exchange exchange, Deed deed);
  }

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Set<ProblemCode> TELLING =
      EnumSet.of(
          ProblemCode.FORBIDDEN,
          ProblemCode.PATH_OUTSIDE_WORKSPACE,
          ProblemCode.QUOTA_EXCEEDED,
          ProblemCode.NETWORK_DISABLED,
          ProblemCode.SANDBOX_ERROR,
          ProblemCode.INTERNAL_ERROR);

  /** It began, and nobody knows whether it was done. */
  private static final String UNKNOWN = "unknown";

  private static final List<String> SUBJECTS = List.of("environment", "shell");

  private final AuditLog log;
  private final Scheduler scheduler;
  private final ExecutionContextExecutor executor;

  /**
   * @param system where a request goes on whose line is written
   */
  Audited(AuditLog log, ActorSystem<?> system) {
    this.log = log;
    this.scheduler = system.scheduler();
    this.executor = system.executionContext();
  }

  /**
   * @param action its name in the log
   */
  RouteTable.ForCaller of(String action, Action body) {
    return (exchange, caller) -> run(exchange, caller, action, body);
  }

  /** For operators; whoever else tries is told of. */
  RouteTable.ForOperator forOperator(RouteTable.ForCaller endpoint) {
    return new RouteTable.ForOperator(
        endpoint, of("admin.denied", (_, _) -> Problems.forbidden().now()));
  }

  private CompletionStage<Answer> run(
      Exchange exchange, Caller caller, String action, Action body) {
    return switch (log.reserve()) {
      case AuditLog.Unavailable(var diskFull) ->
          Problems.of(diskFull ? new Failure.StorageFull() : new Failure.AuditUnavailable(false))
              .now();
      case AuditLog.Place place ->
          run(exchange, new Deed(caller, action, exchange.requestId()), place, body);
    };
  }

  private CompletionStage<Answer> run(
      Exchange exchange, Deed deed, AuditLog.Place place, Action body) {
    return begin(exchange, deed, body)
        .handle(
            (answer, failure) -> {
              if (failure != null) {
                deed.tell(attempt(exchange, deed), UNKNOWN);
                return told(deed, place)
                    .thenCompose(_ -> CompletableFuture.<Answer>failedStage(failure));
              }
              if (answer instanceof Problem problem
                  && deed.told().isEmpty()
                  && TELLING.contains(problem.code())) {
                deed.tell(attempt(exchange, deed), problem.code().label());
              }
              return told(deed, place)
                  .thenApply(written -> written ? answer : unwritten(exchange, answer));
            })
        .thenCompose(stage -> stage);
  }

  private static CompletionStage<Answer> begin(Exchange exchange, Deed deed, Action body) {
    try {
      return body.run(exchange, deed);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /** Whether all of it was written in time. */
  private CompletionStage<Boolean> told(Deed deed, AuditLog.Place place) {
    List<AuditEvent> events = deed.told();
    if (events.isEmpty()) {
      place.release();
      return CompletableFuture.completedStage(true);
    }
    CompletableFuture<Boolean> written = place.record(events).thenApply(_ -> true);
    // Not completeOnTimeout: that wakes a thread for each request.
    Cancellable late = scheduler.scheduleOnce(PATIENCE, () -> written.complete(false), executor);
    return written.thenApplyAsync(
        inTime -> {
          late.cancel();
          return inTime;
        },
        executor);
  }

  /** A refusal stands as it is: nothing was done. */
  private static Answer unwritten(Exchange exchange, Answer answer) {
    if (answer instanceof Answer.Events(var events)) {
      events.runWith(Sink.cancelled(), exchange.materializer());
    }
    return answer instanceof Problem ? answer : Problems.of(new Failure.AuditUnavailable(true));
  }

  /** What can be said of an action that was not done. */
  private static AuditEvent attempt(Exchange exchange, Deed deed) {
    AuditEvent event =
        deed.event().with("method", exchange.method()).with("route", exchange.path());
    for (String subject : SUBJECTS) {
      if (exchange.has(subject)) {
        event = event.with(subject + "_id", exchange.parameter(subject));
      }
    }
    return event;
  }
}
