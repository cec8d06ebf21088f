package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Test;

/** Who may speak to a host as one of its cluster. */
class ClusterTlsTest {

  private static final String SECRET = "0123456789abcdef0123456789abcdef";

  @Test
  void whoeverKnowsTheSecretMay() throws Exception {
    assertThat(talk(new ClusterTls(SECRET), new ClusterTls(SECRET))).isEqualTo("hello");
  }

  @Test
  void whoeverKnowsAnotherMayNot() throws Exception {
    var host = new ClusterTls(SECRET);
    var other = new ClusterTls(SECRET + "x");
    assertThatThrownBy(() -> talk(host, other)).isInstanceOf(SSLException.class);
    assertThatThrownBy(() -> talk(other, host)).isInstanceOf(SSLException.class);
  }

  @Test
  void nobodyMayWhereThereIsNone() throws Exception {
    assertThatThrownBy(() -> talk(new ClusterTls(""), new ClusterTls("")))
        .isInstanceOf(SSLException.class);
  }

  /** A server whose own key is right, and a client that accepts any and shows none. */
  @Test
  void nobodyMayWithoutAKey() throws Exception {
    var any = SSLContext.getInstance("TLS");
    any.init(null, new TrustManager[] {new Anybody()}, null);
    SSLEngine client = any.createSSLEngine();
    client.setUseClientMode(true);
    SSLEngine server = new ClusterTls(SECRET).createServerSSLEngine("127.0.0.1", 1);
    assertThatThrownBy(() -> talk(server, client)).isInstanceOf(SSLException.class);
  }

  @Test
  void theKeyDependsOnTheSecretAlone() throws Exception {
    byte[] secret = SECRET.getBytes(StandardCharsets.UTF_8);
    ClusterKey key = ClusterKey.of(secret);
    assertThat(key.certificate()).isEqualTo(ClusterKey.of(secret).certificate());
    key.certificate().verify(key.certificate().getPublicKey());
    key.certificate().checkValidity();
    assertThat(key.toString()).isEqualTo("ClusterKey");
  }

  private static String talk(ClusterTls server, ClusterTls client) throws SSLException {
    return talk(
        server.createServerSSLEngine("127.0.0.1", 1), client.createClientSSLEngine("127.0.0.1", 1));
  }

  /** What the server reads of the client's hello, after both have proved themselves. */
  private static String talk(SSLEngine server, SSLEngine client) throws SSLException {
    ByteBuffer toServer = ByteBuffer.allocate(1 << 16);
    ByteBuffer toClient = ByteBuffer.allocate(1 << 16);
    ByteBuffer heard = ByteBuffer.allocate(1 << 16);
    ByteBuffer nothing = ByteBuffer.allocate(1 << 16);
    ByteBuffer hello = ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8));
    for (int i = 0; i < 100 && heard.position() == 0; i++) {
      step(client, hello, toServer, toClient, nothing);
      step(server, ByteBuffer.allocate(0), toClient, toServer, heard);
    }
    return StandardCharsets.UTF_8.decode(heard.flip()).toString();
  }

  private static void step(
      SSLEngine engine, ByteBuffer say, ByteBuffer out, ByteBuffer in, ByteBuffer heard)
      throws SSLException {
    in.flip();
    engine.unwrap(in, heard);
    in.compact();
    run(engine);
    SSLEngineResult result = engine.wrap(say, out);
    assertThat(result.getStatus()).isNotEqualTo(SSLEngineResult.Status.BUFFER_OVERFLOW);
    run(engine);
  }

  private static void run(SSLEngine engine) {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  private static final class Anybody extends X509ExtendedTrustManager {

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
