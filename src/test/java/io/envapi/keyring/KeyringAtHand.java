package io.envapi.keyring;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * A keyring on a real socket that answers as a test says, and a clock that stands until it is set.
 */
final class KeyringAtHand implements AutoCloseable {

  static final String ISSUER = "https://issuer.example";
  static final String AUDIENCE = "environments-api";
  static final String SERVICE_TOKEN = "a-service-token-of-enough-characters";
  static final RSAKey KEY = key("key-1", 2048);
  static final RSAKey OTHER_KEY = key("key-2", 2048);

  interface Behaviour {
    void answer(HttpExchange exchange) throws IOException;
  }

  final AtomicInteger requests = new AtomicInteger();
  final AtomicReference<Behaviour> behaviour = new AtomicReference<>();
  final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-01T12:00:00Z"));
  private final HttpServer server;
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

  KeyringAtHand() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(workers);
    server.createContext(
        "/",
        exchange -> {
          requests.incrementAndGet();
          try (exchange) {
            behaviour.get().answer(exchange);
          }
        });
    server.start();
    publish(KEY);
  }

  void publish(JWK... keys) {
    var set = new JWKSet(List.of(keys)).toPublicJWKSet();
    answer(200, JSONObjectUtils.toJSONString(set.toJSONObject()));
  }

  void answer(int status, String body) {
    behaviour.set(exchange -> send(exchange, status, body));
  }

  static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  KeyringSettings settings(Duration timeout) {
    return new KeyringSettings(
        url(),
        ISSUER,
        AUDIENCE,
        Optional.of(Secret.of(SERVICE_TOKEN)),
        timeout,
        Duration.ofHours(1),
        Duration.ofMinutes(1),
        "personal");
  }

  Keyring open(Duration timeout) {
    InstantSource clock = now::get;
    LongSupplier nanos = () -> now.get().getEpochSecond() * 1_000_000_000L + now.get().getNano();
    return Keyring.open(settings(timeout), clock, nanos);
  }

  void pass(Duration time) {
    now.updateAndGet(then -> then.plus(time));
  }

  /** Claims that are accepted for the next ten minutes, to be changed by the caller. */
  Map<String, Object> claims() {
    var claims = new HashMap<String, Object>();
    claims.put("iss", ISSUER);
    claims.put("aud", AUDIENCE);
    claims.put("sub", "alice");
    claims.put("iat", now.get().getEpochSecond());
    claims.put("exp", now.get().getEpochSecond() + 600);
    return claims;
  }

  String token() {
    return token(KEY, claims());
  }

  static String token(RSAKey key, Map<String, Object> claims) {
    return sign(key, header(key.getKeyID()), JSONObjectUtils.toJSONString(claims));
  }

  static String header(String kid) {
    return JSONObjectUtils.toJSONString(Map.of("alg", "RS256", "typ", "JWT", "kid", kid));
  }

  /** Signs whatever the header and the payload are. */
  static String sign(RSAKey key, String header, String payload) {
    String signed = Base64URL.encode(header) + "." + Base64URL.encode(payload);
    try {
      var signer = Signature.getInstance("SHA256withRSA");
      signer.initSign(key.toPrivateKey());
      signer.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + "." + Base64URL.encode(signer.sign());
    } catch (JOSEException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static RSAKey key(String kid, int bits) {
    try {
      return new RSAKeyGenerator(bits, true).keyID(kid).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    workers.shutdownNow();
  }
}
