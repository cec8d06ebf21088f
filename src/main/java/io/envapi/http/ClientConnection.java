package io.envapi.http;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.OptionalLong;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * One client's connection, and whether anything comes of it: a request that is answered, or an
 * answer that the client takes. Times are those of {@code System.nanoTime()}.
 */
final class ClientConnection {

  /** From the end of what a client may send to the end of its connection, at most. */
  private static final Duration GOODBYE = Duration.ofSeconds(10);

  /**
   * Of an answer, given to the connection at once: little, so that it shows when a slow client
   * takes something; much to one that has taken {@link #PROOF_BYTES} without delay, for speed.
   */
  private static final int PIECE_BYTES = 128 * 1024;

  private static final int LARGE_PIECE_BYTES = 1024 * 1024;

  /** More than what buffers on the way take of it. */
  private static final int PROOF_BYTES = 2 * 1024 * 1024;

  private static final Duration DELAY = Duration.ofMillis(100);

  /** Longer than it takes a client to come round to reading. */
  private static final Duration HESITATION = Duration.ofSeconds(5);

  private final Socket socket;
  private int requests;
  private long idleSince;
  private OptionalLong givenSince = OptionalLong.empty();
  private boolean used;
  private boolean hungUp;
  private boolean cutOff;
  private volatile boolean stream;

  ClientConnection(Socket socket, long now) {
    this.socket = socket;
    this.idleSince = now;
  }

  synchronized void begin() {
    requests++;
    used = true;
  }

  synchronized void end(long now) {
    requests--;
    idleSince = now;
    givenSince = OptionalLong.empty();
  }

  /** A piece of an answer has gone to the connection, which is asked for no more. */
  private synchronized void gave(long now) {
    givenSince = OptionalLong.of(now);
  }

  /** The connection has room again, so the client has taken something. */
  private synchronized void took() {
    givenSince = OptionalLong.empty();
  }

  /** Since when nothing has come of it; empty while something does. */
  synchronized OptionalLong uselessSince(long now) {
    if (hungUp) {
      return OptionalLong.empty();
    }
    if (requests == 0) {
      return OptionalLong.of(idleSince);
    }
    return givenSince.isPresent() && now - givenSince.getAsLong() > HESITATION.toNanos()
        ? givenSince
        : OptionalLong.empty();
  }

  /** Ends it when nothing came of it for too long, and for good when that was not enough. */
  synchronized void check(LoadSettings settings, long now) {
    if (hungUp) {
      Duration keepAlive = settings.keepAlive();
      Duration goodbye = GOODBYE.compareTo(keepAlive) < 0 ? GOODBYE : keepAlive;
      if (now - idleSince > goodbye.toNanos()) {
        cutOff();
      }
      return;
    }
    Duration quiet = used ? settings.keepAlive() : settings.headTimeout();
    boolean silent = requests == 0 && now - idleSince > quiet.toNanos();
    boolean stuck =
        givenSince.isPresent() && now - givenSince.getAsLong() > settings.keepAlive().toNanos();
    if (silent || stuck) {
      hangUp(now);
    }
  }

  /** To Pekko it looks as if the client had ended. */
  synchronized void hangUp(long now) {
    hungUp = true;
    idleSince = now;
    try {
      socket.shutdownInput();
    } catch (IOException _) {
      close();
    }
  }

  /**
   * Pekko waits for room to write, and would not see that the socket was closed under it; what it
   * cannot write it gives up, and then closes the socket itself.
   */
  private void cutOff() {
    if (cutOff) {
      close();
      return;
    }
    cutOff = true;
    try {
      socket.shutdownOutput();
    } catch (IOException _) {
      close();
    }
  }

  /** From now on it has a stream of events. */
  void streams() {
    stream = true;
  }

  boolean hasStream() {
    return stream;
  }

  boolean isClosed() {
    return socket.isClosed();
  }

  private void close() {
    try {
      socket.close();
    } catch (IOException _) {
      // It is gone, one way or the other.
    }
  }

  /** Passes an answer on in pieces, and with its end ends the request. */
  GraphStage<FlowShape<ByteString, ByteString>> answering() {
    return new Answering();
  }

  private final class Answering extends GraphStage<FlowShape<ByteString, ByteString>> {

    private final Inlet<ByteString> in = Inlet.create("answer");
    private final Outlet<ByteString> out = Outlet.create("taken");

    @Override
    public FlowShape<ByteString, ByteString> shape() {
      return FlowShape.of(in, out);
    }

    @Override
    public GraphStageLogic createLogic(Attributes inheritedAttributes) {
      return new Logic(this);
    }
  }

  private final class Logic extends GraphStageLogic {

    private final Answering stage;
    private ByteString rest = ByteString.emptyByteString();
    private long givenAt;
    private int given;
    private long withoutDelay;

    Logic(Answering stage) {
      super(stage.shape());
      this.stage = stage;
      setHandler(
          stage.in,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              rest = grab(stage.in);
              giveNext();
            }

            @Override
            public void onUpstreamFinish() {
              if (rest.isEmpty()) {
                completeStage();
              }
            }
          });
      setHandler(
          stage.out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              took();
              boolean delayed = System.nanoTime() - givenAt > DELAY.toNanos();
              withoutDelay = delayed ? 0 : withoutDelay + given;
              if (rest.isEmpty()) {
                pull(stage.in);
              } else {
                giveNext();
              }
            }
          });
    }

    private void giveNext() {
      int most = withoutDelay >= PROOF_BYTES ? LARGE_PIECE_BYTES : PIECE_BYTES;
      ByteString next = rest.take(most);
      rest = rest.drop(most);
      given = next.size();
      givenAt = System.nanoTime();
      gave(givenAt);
      push(stage.out, next);
      if (rest.isEmpty() && isClosed(stage.in)) {
        completeStage();
      }
    }

    @Override
    public void postStop() {
      end(System.nanoTime());
    }
  }
}
