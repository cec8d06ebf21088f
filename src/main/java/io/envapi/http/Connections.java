package io.envapi.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.apache.pekko.io.Inet;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Source;

/**
 * The clients' connections, so that those who keep one without making a request, or who send it
 * byte by byte, or do not read what they asked for, take no place from others: such a connection
 * ends after a time, and at once where a new one needs its place. Who reads slowly is kept.
 *
 * <p>Pekko HTTP counts every byte as activity and lets nobody see a request before its head is
 * complete, so this goes by the sockets, which Pekko shows to socket options.
 */
final class Connections extends Inet.AbstractSocketOptionV2 {

  /**
   * What the kernel takes of an answer before a client has read it (SO_SNDBUF, socket(7)). It tells
   * of room only when a third of it is free, and left alone takes megabytes: then a client that
   * reads slowly would look like one that does not read.
   */
  private static final int SEND_BUFFER_BYTES = 256 * 1024;

  /** Of an answer that the kernel takes as a whole. */
  private static final int SMALL_BYTES = 64 * 1024;

  private final LoadSettings settings;
  private final Map<SocketAddress, ClientConnection> open = new ConcurrentHashMap<>();
  private final Set<ClientConnection> leaving = ConcurrentHashMap.newKeySet();

  Connections(LoadSettings settings) {
    this.settings = settings;
  }

  int count() {
    return open.size();
  }

  /** Whether there are any with a stream of events, or whose last event is not sent yet. */
  boolean hasStreams() {
    return open.values().stream().anyMatch(it -> it.hasStream() && !it.isClosed());
  }

  @Override
  public void afterConnect(Socket socket) {
    SocketAddress client = socket.getRemoteSocketAddress();
    if (client == null) {
      return;
    }
    try {
      socket.setSendBufferSize(SEND_BUFFER_BYTES);
    } catch (SocketException _) {
      // It ended already.
    }
    var connection = new ClientConnection(socket, System.nanoTime());
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

  private void leave(ClientConnection connection) {
    leaving.add(connection);
    connection.hangUp(System.nanoTime());
  }

  /** Ends the connection of which nothing has come the longest. */
  private synchronized boolean makeRoom() {
    long now = System.nanoTime();
    Optional<Map.Entry<SocketAddress, ClientConnection>> useless =
        open.entrySet().stream()
            .filter(entry -> entry.getValue().uselessSince(now).isPresent())
            .max(Comparator.comparingLong(entry -> now - uselessSince(entry.getValue(), now)));
    useless.ifPresent(
        entry -> {
          open.remove(entry.getKey(), entry.getValue());
          leave(entry.getValue());
        });
    return useless.isPresent();
  }

  /** It may have become useful meanwhile. */
  private static long uselessSince(ClientConnection connection, long now) {
    return connection.uselessSince(now).orElse(now);
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
    open.values().removeIf(ClientConnection::isClosed);
    leaving.removeIf(ClientConnection::isClosed);
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
      Optional<ClientConnection> connection = of(request);
      connection.ifPresent(ClientConnection::begin);
      return handler
          .apply(request)
          .handle(
              (response, failure) -> {
                if (failure == null && response != null && !isSmall(response)) {
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

  private static boolean isSmall(HttpResponse response) {
    return response.entity() instanceof HttpEntity.Strict strict
        && strict.getData().size() <= SMALL_BYTES;
  }

  /** Of one that was handed over as a whole nobody could tell how much of it was taken. */
  private static HttpResponse untilSent(ClientConnection connection, HttpResponse response) {
    if (Responses.isStream(response)) {
      connection.streams();
    }
    var watch = connection.answering();
    // Transforming an entity would forget its length.
    return switch (response.entity()) {
      case HttpEntity.Strict whole ->
          response.withEntity(
              HttpEntities.create(
                  whole.getContentType(),
                  whole.getData().size(),
                  Source.single(whole.getData()).via(watch)));
      case HttpEntity.Default known ->
          response.withEntity(
              HttpEntities.create(
                  known.getContentType(),
                  known.getContentLengthOption().orElseThrow(),
                  known.getDataBytes().via(watch)));
      default -> response.transformEntityDataBytes(Flow.fromGraph(watch));
    };
  }

  private Optional<ClientConnection> of(HttpRequest request) {
    Optional<RemoteAddress> client = request.getAttribute(AttributeKeys.remoteAddress);
    return client
        .flatMap(
            address ->
                address.getAddress().map(host -> new InetSocketAddress(host, address.getPort())))
        .map(open::get);
  }
}
