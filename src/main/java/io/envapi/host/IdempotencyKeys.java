package io.envapi.host;

import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.idempotency.KeyBucket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.cluster.sharding.typed.javadsl.ClusterSharding;
import org.apache.pekko.cluster.sharding.typed.javadsl.Entity;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityRef;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityTypeKey;
import org.apache.pekko.cluster.typed.Cluster;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The idempotency keys of all accounts, wherever in the cluster they are. */
public final class IdempotencyKeys {

  private static final Logger LOG = LoggerFactory.getLogger(IdempotencyKeys.class);

  private static final EntityTypeKey<KeyBucket.Command> KEY =
      EntityTypeKey.create(KeyBucket.Command.class, "Idempotency");

  /** How long a request waits for another one with the same key. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Beyond the longest time a request may take. */
  private static final Duration MARGIN = Duration.ofSeconds(60);

  private static final int RETRY_SECONDS = 2;
  private static final int RETRIES = 30;

  /** A key of an account, and who claimed it. */
  public record Ticket(AccountId account, String key, String claimant) {}

  public record Claim(Ticket ticket, KeyBucket.ClaimReply reply) {}

  private final Cluster cluster;
  private final ClusterSharding sharding;
  private final Duration timeout;
  private final Executor threads;
  private final AtomicLong claims = new AtomicLong();

  IdempotencyKeys(ActorSystem<?> system, HostSettings settings, InstantSource clock) {
    this.cluster = Cluster.get(system);
    this.sharding = ClusterSharding.get(system);
    this.timeout = settings.askTimeout();
    this.threads = system.executionContext();
    var watch = new KeyBucket.Watch(clock, this::isAlive, settings.requestTimeout().plus(MARGIN));
    sharding.init(Entity.of(KEY, context -> KeyBucket.create(context.getEntityId(), watch)));
  }

  /**
   * Claims a key for a request.
   *
   * @param key as it was sent
   * @param request the digest of all that makes it this request
   * @param repeatable whether it does no harm to carry it out once more
   */
  public CompletionStage<Claim> claim(
      AccountId account, String key, String request, boolean repeatable) {
    var ticket = new Ticket(account, digest(key), service() + "-" + claims.incrementAndGet());
    EnvironmentId fresh = EnvironmentId.random();
    return PatientAsk.<KeyBucket.Command, KeyBucket.ClaimReply>ask(
            bucket(ticket),
            timeout,
            timeout.plus(PATIENCE),
            replyTo ->
                new KeyBucket.Claim(
                    ticket.key(),
                    request,
                    ticket.claimant(),
                    fresh,
                    repeatable,
                    PATIENCE.toMillis(),
                    replyTo))
        .thenApply(reply -> new Claim(ticket, reply));
  }

  /**
   * Says how the request of a claim ended; completes when that is stored. Where it cannot be, it is
   * tried again for a while after the stage has failed.
   */
  public CompletionStage<KeyBucket.Noted> finish(Ticket ticket, KeyBucket.Outcome outcome) {
    CompletionStage<KeyBucket.Noted> first = store(ticket, outcome);
    first.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            LOG.warn("the answer of a request with a key is not stored yet: {}", cause(failure));
            storeLater(ticket, outcome, RETRIES);
          }
        });
    return first;
  }

  private void storeLater(Ticket ticket, KeyBucket.Outcome outcome, int left) {
    Executor later = CompletableFuture.delayedExecutor(RETRY_SECONDS, TimeUnit.SECONDS, threads);
    CompletableFuture.supplyAsync(() -> store(ticket, outcome), later)
        .thenCompose(stage -> stage)
        .whenComplete(
            (done, failure) -> {
              if (failure != null && left > 1) {
                storeLater(ticket, outcome, left - 1);
              }
            });
  }

  private CompletionStage<KeyBucket.Noted> store(Ticket ticket, KeyBucket.Outcome outcome) {
    return bucket(ticket)
        .ask(
            replyTo -> new KeyBucket.Finish(ticket.key(), ticket.claimant(), outcome, replyTo),
            timeout);
  }

  private static String cause(Throwable failure) {
    return String.valueOf(failure.getCause() == null ? failure : failure.getCause());
  }

  /** One of sixteen of the account. Its name tells neither account nor key. */
  private EntityRef<KeyBucket.Command> bucket(Ticket ticket) {
    return sharding.entityRefFor(
        KEY, digest(ticket.account().value()) + "-" + ticket.key().charAt(0));
  }

  /** This service, as long as it runs, unlike all others. */
  private String service() {
    return Long.toHexString(cluster.selfMember().uniqueAddress().longUid());
  }

  private boolean isAlive(String claimant) {
    String service = claimant.substring(0, claimant.indexOf('-'));
    for (var member : cluster.state().getMembers()) {
      if (Long.toHexString(member.uniqueAddress().longUid()).equals(service)) {
        return true;
      }
    }
    return false;
  }

  private static String digest(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
