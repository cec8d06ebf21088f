package io.envapi.app;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.remote.artery.tcp.SSLEngineProvider;
import scala.Option;

/**
 * TLS 1.3 between hosts, each of which proves that it knows the cluster's secret. Without a secret
 * nobody can connect. Commands in environments that share the host's network can reach the port.
 * Made by its class name.
 */
public final class ClusterTls implements SSLEngineProvider {

  private static final String[] PROTOCOLS = {"TLSv1.3"};

  private final SSLContext context;

  /** For Pekko, which makes it by reflection. */
  public ClusterTls(ActorSystem system) throws GeneralSecurityException {
    this(system.settings().config().getString("envapi.cluster.secret"));
  }

  ClusterTls(String secret) throws GeneralSecurityException {
    ClusterKey key =
        secret.isEmpty()
            ? ClusterKey.ofNobodyElse()
            : ClusterKey.of(secret.getBytes(StandardCharsets.UTF_8));
    this.context = context(key);
  }

  private static SSLContext context(ClusterKey key) throws GeneralSecurityException {
    try {
      char[] none = new char[0];
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, none);
      store.setKeyEntry("cluster", key.secret(), none, new Certificate[] {key.certificate()});
      var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, none);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          keys.getKeyManagers(),
          new TrustManager[] {new Same(key.certificate().getPublicKey())},
          null);
      return context;
    } catch (IOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  @Override
  public SSLEngine createServerSSLEngine(String hostname, int port) {
    SSLEngine engine = engine(hostname, port);
    engine.setUseClientMode(false);
    engine.setNeedClientAuth(true);
    return engine;
  }

  @Override
  public SSLEngine createClientSSLEngine(String hostname, int port) {
    SSLEngine engine = engine(hostname, port);
    engine.setUseClientMode(true);
    return engine;
  }

  private SSLEngine engine(String hostname, int port) {
    SSLEngine engine = context.createSSLEngine(hostname, port);
    engine.setEnabledProtocols(PROTOCOLS);
    return engine;
  }

  @Override
  public Option<Throwable> verifyClientSession(String hostname, SSLSession session) {
    return Option.empty();
  }

  @Override
  public Option<Throwable> verifyServerSession(String hostname, SSLSession session) {
    return Option.empty();
  }

  /** Accepts one key, whatever the certificate says around it. */
  private static final class Same extends X509ExtendedTrustManager {

    private final PublicKey wanted;

    Same(PublicKey wanted) {
      this.wanted = wanted;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      if (chain.length == 0 || !chain[0].getPublicKey().equals(wanted)) {
        throw new CertificateException("not a host of this cluster");
      }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
