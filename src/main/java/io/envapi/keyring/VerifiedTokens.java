package io.envapi.keyring;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Tokens whose signature and claims were found good, by digest, so that the tokens themselves are
 * not kept. The least recently used give way. Time still has to be judged on every use.
 */
final class VerifiedTokens {

  private static final int CAPACITY = 4096;

  private final Map<ByteBuffer, AcceptedClaims> entries =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, AcceptedClaims> eldest) {
          return size() > CAPACITY;
        }
      };

  static ByteBuffer digest(String token) {
    try {
      byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }

  synchronized Optional<AcceptedClaims> find(ByteBuffer digest) {
    return Optional.ofNullable(entries.get(digest));
  }

  synchronized void add(ByteBuffer digest, AcceptedClaims claims) {
    entries.put(digest, claims);
  }

  synchronized int size() {
    return entries.size();
  }
}
