package io.envapi.app;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The one key that all hosts of a cluster have: an Ed25519 pair (RFC 8032) made from their common
 * secret, with a certificate (RFC 5280, RFC 8410) that says nothing else. Who can sign with it
 * knows the secret.
 */
record ClusterKey(KeyPair pair, X509Certificate certificate) {

  private static final String PURPOSE = "environments-api cluster key 1";
  private static final int SEED_BYTES = 32;

  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int OBJECT_ID = 0x06;
  private static final int UTF8_STRING = 0x0c;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;

  /** 1.3.101.112. */
  private static final byte[] ED25519 = {0x2b, 0x65, 0x70};

  /** 2.5.4.3. */
  private static final byte[] COMMON_NAME = {0x55, 0x04, 0x03};

  static ClusterKey of(byte[] secret) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    byte[] seed = mac.doFinal(PURPOSE.getBytes(StandardCharsets.UTF_8));
    KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
    generator.initialize(255, new Given(seed));
    KeyPair pair = generator.generateKeyPair();
    return new ClusterKey(pair, certificate(pair));
  }

  /** That of nobody else: a secret drawn for it, and forgotten. */
  static ClusterKey ofNobodyElse() throws GeneralSecurityException {
    byte[] secret = new byte[SEED_BYTES];
    new SecureRandom().nextBytes(secret);
    return of(secret);
  }

  private static X509Certificate certificate(KeyPair pair) throws GeneralSecurityException {
    byte[] algorithm = der(SEQUENCE, der(OBJECT_ID, ED25519));
    byte[] name =
        der(
            SEQUENCE,
            der(SET, der(SEQUENCE, der(OBJECT_ID, COMMON_NAME), der(UTF8_STRING, text("envapi")))));
    byte[] validity =
        der(
            SEQUENCE,
            der(GENERALIZED_TIME, text("20000101000000Z")),
            der(GENERALIZED_TIME, text("99991231235959Z")));
    byte[] content =
        der(
            SEQUENCE,
            der(INTEGER, new byte[] {1}),
            algorithm,
            name,
            validity,
            name,
            pair.getPublic().getEncoded());
    Signature signature = Signature.getInstance("Ed25519");
    signature.initSign(pair.getPrivate());
    signature.update(content);
    byte[] whole =
        der(SEQUENCE, content, algorithm, der(BIT_STRING, new byte[] {0}, signature.sign()));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(whole));
  }

  private static byte[] text(String ascii) {
    return ascii.getBytes(StandardCharsets.US_ASCII);
  }

  /** Tag, length and value (X.690); the value has less than 256 bytes. */
  private static byte[] der(int tag, byte[]... parts) {
    var value = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      value.writeBytes(part);
    }
    var encoded = new ByteArrayOutputStream();
    encoded.write(tag);
    if (value.size() >= 0x80) {
      encoded.write(0x81);
    }
    encoded.write(value.size());
    encoded.writeBytes(value.toByteArray());
    return encoded.toByteArray();
  }

  /** What the generator takes as the private key. */
  private static final class Given extends SecureRandom {

    private static final long serialVersionUID = 1L;

    private final byte[] bytes;

    Given(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public void nextBytes(byte[] wanted) {
      if (wanted.length != bytes.length) {
        throw new IllegalStateException("an Ed25519 key is made of 32 bytes");
      }
      System.arraycopy(bytes, 0, wanted, 0, bytes.length);
    }
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "ClusterKey";
  }
}
