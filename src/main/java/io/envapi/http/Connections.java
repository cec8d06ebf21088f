package io.envapi.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.apache.pekko.io.Inet;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;

/**
 * The clients' connections, so that those who keep one without making a request, or who send it
 * byte by byte, take no place from others: such a connection ends after a time, and at once where a
 * new one needs its place.
 *
 * <p>Pekko HTTP counts every byte as activity and lets nobody see a request before its head is
 * complete, so this goes by the sockets, which Pekko shows to socket options.
 */
final class Connections extends Inet.AbstractSocketOptionV2 {

  /** From the end of what a client may send to the end of its connection. */
  private static final Duration GOODBYE = Duration.ofSeconds(10);

  private static final class Connection {
    private final Socket socket;
    private int requests;
    private long idleSince;
    private boolean used;
    private boolean hungUp;
    private volatile boolean stream;

    Connection(Socket socket, long now) {
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
    }

    synchronized boolean isIdle() {
      return requests == 0 && !hungUp;
    }

    synchronized long idleSince() {
      return idleSince;
    }

    /** Ends it when it was idle for too long, and for good when that was not enough. */
    synchronized void check(LoadSettings settings, long now) {
      Duration allowed = used ? settings.keepAlive() : settings.headTimeout();
      long idle = now - idleSince;
      if (requests == 0 && !hungUp && idle > allowed.toNanos()) {
        hangUp(now);
      } else if (hungUp && idle > GOODBYE.toNanos()) {
        close();
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
  }

  private final LoadSettings settings;
  private final Map<SocketAddress, Connection> open = new ConcurrentHashMap<>();
  private final Set<Connection> leaving = ConcurrentHashMap.newKeySet();

  Connections(LoadSettings settings) {
    this.settings = settings;
  }

  int count() {
    return open.size();
  }

  /** Whether there are any with a stream of events, or whose last event is not sent yet. */
  boolean hasStreams() {
    return open.values().stream().anyMatch(it -> it.stream && !it.isClosed());
  }

  @Override
  public void afterConnect(Socket socket) {
    SocketAddress client = socket.getRemoteSocketAddress();
    if (client == null) {
      return;
    }
    var connection = new Connection(socket, System.nanoTime());
    if (open.size() >= settings.connections()) {
      forgetTheClosed();
    }
    boolean room =
        (open.size() < settings.connections() || makeRoom())
            && mayHaveAnother(socket.getInetAddress());
    if (room) {
      open.put(client, connection);
    } else {
      leave(connection);
    }
  }

  private void leave(Connection connection) {
    leaving.add(connection);
    connection.hangUp(System.nanoTime());
  }

  /** Ends the connection that has been idle the longest. */
  private synchronized boolean makeRoom() {
    Optional<Map.Entry<SocketAddress, Connection>> idlest =
        open.entrySet().stream()
            .filter(entry -> entry.getValue().isIdle())
            .min(Comparator.comparingLong(entry -> entry.getValue().idleSince()));
    idlest.ifPresent(
        entry -> {
          open.remove(entry.getKey(), entry.getValue());
          leave(entry.getValue());
        });
    return idlest.isPresent();
  }

  private boolean mayHaveAnother(InetAddress client) {
    int most = settings.connectionsPerAddress();
    if (most == 0) {
      return true;
    }
    forgetTheClosed();
    return open.keySet().stream()
            .filter(
                address ->
                    address instanceof InetSocketAddress known && client.equals(known.getAddress()))
            .count()
        < most;
  }

  private void forgetTheClosed() {
    open.values().removeIf(Connection::isClosed);
    leaving.removeIf(Connection::isClosed);
  }

  /** To be called every now and then. */
  void check() {
    forgetTheClosed();
    long now = System.nanoTime();
    open.values().forEach(connection -> connection.check(settings, now));
    leaving.forEach(connection -> connection.check(settings, now));
  }

  /** The handler, which this way tells when a connection is idle. */
  Function<HttpRequest, CompletionStage<HttpResponse>> watched(
      Function<HttpRequest, CompletionStage<HttpResponse>> handler) {
    return request -> {
      Optional<Connection> connection = of(request);
      connection.ifPresent(Connection::begin);
      return handler
          .apply(request)
          .handle(
              (response, failure) -> {
                if (failure == null && response != null && !response.entity().isStrict()) {
                  return connection.map(it -> untilSent(it, response)).orElse(response);
                }
                connection.ifPresent(it -> it.end(System.nanoTime()));
                if (failure != null || response == null) {
                  throw new IllegalStateException("a request was not answered", failure);
                }
                return response;
              });
    };
  }

  private static HttpResponse untilSent(Connection connection, HttpResponse response) {
    if (Front.isStream(response)) {
      connection.stream = true;
    }
    Flow<ByteString, ByteString, NotUsed> watch =
        Flow.<ByteString>create()
            .watchTermination(
                (mat, done) -> {
                  done.whenComplete((_, _) -> connection.end(System.nanoTime()));
                  return mat;
                });
    // Transforming an entity would forget its length.
    return response.entity() instanceof HttpEntity.Default known
        ? response.withEntity(
            HttpEntities.create(
                known.getContentType(),
                known.getContentLengthOption().orElseThrow(),
                known.getDataBytes().via(watch)))
        : response.transformEntityDataBytes(watch);
  }

  private Optional<Connection> of(HttpRequest request) {
    Optional<RemoteAddress> client = request.getAttribute(AttributeKeys.remoteAddress);
    return client
        .flatMap(
            address ->
                address.getAddress().map(host -> new InetSocketAddress(host, address.getPort())))
        .map(open::get);
  }
}
