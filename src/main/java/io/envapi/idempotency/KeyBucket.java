package io.envapi.idempotency;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.Asks;
import io.envapi.CborSerializable;
import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;

/**
 * Some of an account's idempotency keys (draft-ietf-httpapi-idempotency-key-header).
 *
 * <p>A key is claimed before its request is carried out, and the answer is stored before it is
 * sent. A claim that was never answered, since the service that had it ended, is interrupted:
 * whether it took effect is unknown.
 */
public final class KeyBucket
    extends EventSourcedBehaviorWithEnforcedReplies<KeyBucket.Command, KeyEvent, KeyState> {

  /** What a bucket can be asked, at any time. */
  public sealed interface Command extends CborSerializable {}

  /**
   * Wants to carry out the request of a key.
   *
   * @param request the digest of all that makes it this request
   * @param claimant unlike all others
   * @param environment for an environment that the request makes; that of an earlier claim counts
   * @param repeatable whether it does no harm to carry it out once more
   * @param patienceMs how long to wait while another carries it out
   */
  public record Claim(
      String key,
      String request,
      String claimant,
      EnvironmentId environment,
      boolean repeatable,
      long patienceMs,
      ActorRef<ClaimReply> replyTo)
      implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  /** The request was carried out. */
  public record Finish(String key, String claimant, Outcome outcome, ActorRef<Noted> replyTo)
      implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  private record WaitOver(Claim claim) implements Command {}

  /** How carrying out a request ended. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Answered.class, name = "answered"),
    @JsonSubTypes.Type(value = NoEffect.class, name = "no-effect"),
    @JsonSubTypes.Type(value = Unknown.class, name = "unknown"),
  })
  public sealed interface Outcome {}

  public record Answered(StoredAnswer answer) implements Outcome {}

  /** The same request may have one another time. */
  public record NoEffect() implements Outcome {}

  /** It may have had an effect. */
  public record Unknown() implements Outcome {}

  public sealed interface ClaimReply extends CborSerializable {}

  /**
   * The claimant is to carry out the request, and to say how it ended.
   *
   * @param environment the id for an environment that the request makes
   */
  public record Granted(EnvironmentId environment) implements ClaimReply {}

  public record Replay(StoredAnswer answer) implements ClaimReply {}

  /** The key was used for another request. */
  public record OtherRequest() implements ClaimReply {}

  public record StillRunning() implements ClaimReply {}

  /** An earlier one may have taken effect, and the request is none to repeat. */
  public record Interrupted() implements ClaimReply {}

  /** The account has used too many keys. */
  public record Full(long retryAfterSeconds) implements ClaimReply {}

  public record Noted() implements CborSerializable {}

  /**
   * How a bucket knows the time and whether anybody is still at work.
   *
   * @param alive whether the service of a claimant still runs
   * @param longest no request takes longer than this
   */
  public record Watch(InstantSource clock, Predicate<String> alive, Duration longest) {}

  private final ActorContext<Command> context;
  private final Unanswered unanswered;
  private final Watch watch;
  private final List<Claim> waiting = new ArrayList<>();

  /**
   * @param id unlike that of all other buckets
   */
  public static Behavior<Command> create(String id, Watch watch) {
    return Supervised.restarting(
        unanswered -> Behaviors.setup(context -> new KeyBucket(context, unanswered, id, watch)));
  }

  private KeyBucket(ActorContext<Command> context, Unanswered unanswered, String id, Watch watch) {
    super(PersistenceId.of("Idempotency", id));
    this.context = context;
    this.unanswered = unanswered;
    this.watch = watch;
  }

  @Override
  public KeyState emptyState() {
    return KeyState.EMPTY;
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return RetentionCriteria.snapshotEvery(500, 1).withDeleteEventsOnSnapshot();
  }

  @Override
  public EventHandler<KeyState, KeyEvent> eventHandler() {
    return KeyState::with;
  }

  @Override
  public CommandHandlerWithReply<Command, KeyEvent, KeyState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<KeyEvent, KeyState> onCommand(KeyState state, Command command) {
    unanswered.handled(command);
    return switch (command) {
      case Claim claim -> onClaim(state, claim);
      case Finish finish -> onFinish(state, finish);
      case WaitOver(var claim) -> onWaitOver(claim);
    };
  }

  private ReplyEffect<KeyEvent, KeyState> onClaim(KeyState state, Claim claim) {
    long now = watch.clock().millis();
    Optional<KeyState.Entry> known = state.find(claim.key(), now);
    if (known.isEmpty()) {
      return state.isFull(now)
          ? Effect().reply(claim.replyTo(), new Full(1 + state.roomIn(now) / 1000))
          : grant(claim, claim.environment(), now);
    }
    KeyState.Entry entry = known.get();
    if (!entry.request().equals(claim.request())) {
      return Effect().reply(claim.replyTo(), new OtherRequest());
    }
    if (entry.answer().isPresent()) {
      return Effect().reply(claim.replyTo(), new Replay(entry.answer().get()));
    }
    if (entry.claimant().equals(claim.claimant())) {
      return Effect().reply(claim.replyTo(), new Granted(entry.environment()));
    }
    if (isRunning(entry, now)) {
      await(claim);
      return Effect().noReply();
    }
    return claim.repeatable()
        ? grant(claim, entry.environment(), now)
        : Effect().reply(claim.replyTo(), new Interrupted());
  }

  private boolean isRunning(KeyState.Entry entry, long now) {
    return !entry.claimant().isEmpty()
        && watch.alive().test(entry.claimant())
        && now - entry.claimedAt() < watch.longest().toMillis();
  }

  private void await(Claim claim) {
    waiting.add(claim);
    unanswered.hold(claim);
    context.scheduleOnce(
        Duration.ofMillis(claim.patienceMs()), context.getSelf(), new WaitOver(claim));
  }

  private ReplyEffect<KeyEvent, KeyState> grant(Claim claim, EnvironmentId environment, long now) {
    unanswered.hold(claim);
    return Effect()
        .persist(
            new KeyEvent.KeyClaimed(
                claim.key(), claim.request(), claim.claimant(), environment, now))
        .thenRun((KeyState next) -> unanswered.handled(claim))
        .thenReply(claim.replyTo(), next -> new Granted(environment));
  }

  private ReplyEffect<KeyEvent, KeyState> onFinish(KeyState state, Finish finish) {
    KeyState.Entry entry = state.entries().get(finish.key());
    if (entry == null
        || entry.answer().isPresent()
        || !entry.claimant().equals(finish.claimant())) {
      return Effect().reply(finish.replyTo(), new Noted());
    }
    unanswered.hold(finish);
    return Effect()
        .persist(event(state, finish))
        .thenRun(
            (KeyState next) -> {
              unanswered.handled(finish);
              wake(finish.key());
            })
        .thenReply(finish.replyTo(), next -> new Noted());
  }

  private static KeyEvent event(KeyState state, Finish finish) {
    return switch (finish.outcome()) {
      case Answered(var answer) ->
          new KeyEvent.KeyAnswered(
              finish.key(), state.hasRoomFor(answer) ? answer : answer.withoutBody());
      case NoEffect() -> new KeyEvent.KeyReleased(finish.key());
      case Unknown() -> new KeyEvent.KeyInterrupted(finish.key());
    };
  }

  private ReplyEffect<KeyEvent, KeyState> onWaitOver(Claim claim) {
    if (!waiting.remove(claim)) {
      return Effect().noReply();
    }
    unanswered.handled(claim);
    return Effect().reply(claim.replyTo(), new StillRunning());
  }

  /** Whoever waits claims again: there is an answer now, or nobody at work. */
  private void wake(String key) {
    List<Claim> awake = waiting.stream().filter(c -> c.key().equals(key)).toList();
    waiting.removeAll(awake);
    awake.forEach(context.getSelf()::tell);
  }
}
