package io.envapi.app;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Date;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.util.PrivateKeyInfoFactory;
import org.bouncycastle.crypto.util.SubjectPublicKeyInfoFactory;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The one key that all hosts of a cluster have: an Ed25519 pair (RFC 8032) made from their common
 * secret, with a certificate (RFC 5280, RFC 8410) that says nothing else. Who can sign with it
 * knows the secret.
 */
record ClusterKey(PrivateKey secret, X509Certificate certificate) {

  private static final String PURPOSE = "environments-api cluster key 1";
  private static final String ALGORITHM = "Ed25519";
  private static final int SECRET_BYTES = 32;

  private static final X500Name NAME = new X500Name("CN=envapi");
  private static final Date ALWAYS = Date.from(Instant.parse("2000-01-01T00:00:00Z"));
  private static final Date EVER = Date.from(Instant.parse("9999-12-31T23:59:59Z"));

  static ClusterKey of(byte[] secret) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    byte[] seed = mac.doFinal(PURPOSE.getBytes(StandardCharsets.UTF_8));
    var pair = new Ed25519PrivateKeyParameters(seed);
    try {
      byte[] encoded = PrivateKeyInfoFactory.createPrivateKeyInfo(pair).getEncoded();
      PrivateKey key =
          KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      var certificate =
          new X509v3CertificateBuilder(
              NAME,
              BigInteger.ONE,
              ALWAYS,
              EVER,
              NAME,
              SubjectPublicKeyInfoFactory.createSubjectPublicKeyInfo(pair.generatePublicKey()));
      return new ClusterKey(
          key,
          new JcaX509CertificateConverter()
              .getCertificate(
                  certificate.build(new JcaContentSignerBuilder(ALGORITHM).build(key))));
    } catch (IOException | OperatorCreationException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** That of nobody else: a secret drawn for it, and forgotten. */
  static ClusterKey ofNobodyElse() throws GeneralSecurityException {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return of(secret);
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "ClusterKey";
  }
}
