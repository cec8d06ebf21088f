package io.envapi.http;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.Done;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Ends the streams of events when the service stops, and each when its reader's token ends: with an
 * {@code error} event that says so, unless its own last event was given already. What was not given
 * yet has the ids that come after those the reader has, so it goes on where this ends.
 *
 * <p>Ends a stream without a word when its client has hung up.
 */
final class Stopping {

  /** The clock of the day can be set, so a token's end may come sooner than it seemed. */
  private static final Duration LOOK = Duration.ofMinutes(1);

  private final Set<AsyncCallback<Done>> streams = ConcurrentHashMap.newKeySet();
  private volatile boolean begun;

  /** Ends all streams, those that begin later too. */
  void begin() {
    begun = true;
    streams.forEach(each -> each.invoke(Done.getInstance()));
  }

  /**
   * @param path of the request
   * @param until when its caller's token ends
   * @param gone when its client has hung up
   */
  Answer.Events ending(
      Answer.Events answer, String path, Instant until, CompletionStage<Void> gone) {
    return new Answer.Events(answer.events().via(new Stage(path, until, gone)));
  }

  private final class Stage extends GraphStage<FlowShape<ByteString, ByteString>> {

    private final Inlet<ByteString> in = Inlet.create("events");
    private final Outlet<ByteString> out = Outlet.create("ended");
    private final String path;
    private final Instant until;
    private final CompletionStage<Void> gone;

    Stage(String path, Instant until, CompletionStage<Void> gone) {
      this.path = path;
      this.until = until;
      this.gone = gone;
    }

    @Override
    public FlowShape<ByteString, ByteString> shape() {
      return FlowShape.of(in, out);
    }

    @Override
    public GraphStageLogic createLogic(Attributes inheritedAttributes) {
      return new Logic(this);
    }
  }

  private final class Logic extends TimerGraphStageLogic {

    private final Stage stage;
    private final AsyncCallback<Done> end = createAsyncCallback(_ -> end(Problems.stopping()));
    private final AsyncCallback<Done> hungUp = createAsyncCallback(_ -> completeStage());
    private boolean ended;

    Logic(Stage stage) {
      super(stage.shape());
      this.stage = stage;
      setHandler(
          stage.in,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              push(stage.out, grab(stage.in));
            }
          });
      setHandler(
          stage.out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              pull(stage.in);
            }
          });
    }

    @Override
    public void preStart() {
      streams.add(end);
      stage.gone.whenComplete((_, _) -> hungUp.invoke(Done.getInstance()));
      if (begun) {
        end(Problems.stopping());
      }
      lookAtTheToken();
    }

    @Override
    public void onTimer(Object timer) {
      lookAtTheToken();
    }

    private void lookAtTheToken() {
      Instant now = Instant.now();
      if (!now.isBefore(stage.until)) {
        end(Problems.tokenExpired());
        return;
      }
      Instant next = now.plus(LOOK);
      Instant then = next.isBefore(stage.until) ? next : stage.until;
      scheduleOnce(stage, Duration.between(now, then).plusMillis(1));
    }

    @Override
    public void postStop() {
      streams.remove(end);
    }

    private void end(Problem why) {
      if (!ended) {
        ended = true;
        cancel(stage.in);
        emit(stage.out, Sse.event("error", why.body(stage.path)), this::completeStage);
      }
    }
  }
}
