package io.envapi.http;

import io.envapi.failure.Failure;
import io.envapi.host.Environments;
import io.envapi.id.AccountId;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * Follows the output of a shell, or of one of its commands, as server-sent events. Pulls: it asks
 * for more when what it gave was taken, so a reader that is slow or gone holds up nobody and costs
 * one chunk.
 *
 * <p>The events: {@code shell} (its state, at the start), {@code command} (a command as it began
 * and as it ended), {@code output} (whose id is where to go on), {@code dropped} (bytes that are
 * neither in the ring nor in a log), and last exactly one {@code end}, {@code result} or {@code
 * error}.
 */
final class Follower {

  private static final int CHUNK_BYTES = 64 * 1024;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  /** Before a shell that had nothing to tell is asked again. */
  private static final Duration IDLE_POLL = Duration.ofMillis(200);

  /** Makes the last event of a stream, when everything else was told. */
  @FunctionalInterface
  interface Ending {
    CompletionStage<ByteString> last(ShellView shell, List<CommandRecord> commands);
  }

  /**
   * Who follows what.
   *
   * @param path of the request, for an error on the way
   */
  record Following(
      AccountId account, ShellId shell, Telling.Subject subject, String path, Ending ending) {}

  /** What the next step begins with; over when the last event was told. */
  private record State(Telling.Progress progress, boolean idle, boolean over) {}

  private final ActorSystem<?> system;
  private final Environments environments;
  private final Following following;

  private Follower(ActorSystem<?> system, Environments environments, Following following) {
    this.system = system;
    this.environments = environments;
    this.following = following;
  }

  static Source<ByteString, NotUsed> events(
      ActorSystem<?> system, Environments environments, Following following, StreamPosition from) {
    var follower = new Follower(system, environments, following);
    var start = Telling.Progress.at(from, following.subject().base());
    return Source.unfoldAsync(new State(start, false, false), follower::step)
        .filter(bytes -> !bytes.isEmpty())
        .keepAlive(HEARTBEAT, () -> Sse.COMMENT);
  }

  private CompletionStage<Optional<Pair<State, ByteString>>> step(State state) {
    if (state.over()) {
      return CompletableFuture.completedStage(Optional.empty());
    }
    CompletionStage<Pair<State, ByteString>> next =
        state.idle()
            ? Patterns.after(IDLE_POLL, system.classicSystem(), () -> read(state.progress()))
            : read(state.progress());
    return next.exceptionally(failure -> failed(state.progress(), Front.problem(failure)))
        .thenApply(Optional::of);
  }

  private CompletionStage<Pair<State, ByteString>> read(Telling.Progress progress) {
    return environments
        .<Shell.FollowReply>shell(
            following.account(),
            following.shell(),
            HEARTBEAT,
            (_, replyTo) ->
                new Shell.Follow(
                    progress.cursor(), progress.mark(), CHUNK_BYTES, HEARTBEAT.toMillis(), replyTo))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Shell.Followed followed when isForgotten(followed) ->
                      CompletableFuture.completedStage(failed(progress, Problems.of(forgotten())));
                  case Shell.Followed followed -> told(progress, followed);
                  case Shell.Refused(var failure) ->
                      CompletableFuture.completedStage(failed(progress, Problems.of(failure)));
                });
  }

  /** Whether the command followed has left the shell's history. */
  private boolean isForgotten(Shell.Followed followed) {
    return following
        .subject()
        .only()
        .map(id -> followed.commands().stream().noneMatch(each -> each.id().equals(id)))
        .orElse(false);
  }

  private Failure forgotten() {
    String id = following.subject().only().map(CommandId::value).orElse("");
    return new Failure.NotFound(Failure.Kind.COMMAND, id);
  }

  private CompletionStage<Pair<State, ByteString>> told(
      Telling.Progress before, Shell.Followed followed) {
    Telling.Told told =
        Telling.tell(
            following.subject(), before, followed.shell(), followed.slice(), followed.commands());
    if (!told.over()) {
      boolean idle = told.events().isEmpty();
      return CompletableFuture.completedStage(
          Pair.create(new State(told.progress(), idle, false), told.events()));
    }
    return following
        .ending()
        .last(followed.shell(), followed.commands())
        .thenApply(
            last ->
                Pair.create(new State(told.progress(), false, true), told.events().concat(last)));
  }

  private Pair<State, ByteString> failed(Telling.Progress progress, Problem problem) {
    return Pair.create(
        new State(progress, false, true), Sse.event("error", problem.body(following.path())));
  }
}
