package io.envapi.shell;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random secrets, output and chunks, compared with a search by brute force. */
class RedactionFuzzTest {

  /** All occurrences of all needles by brute force; what overlaps is one. */
  private static byte[] oracle(byte[] text, Map<ByteString, String> needles) {
    int[] longestFrom = new int[text.length];
    String[] service = new String[text.length];
    needles.forEach(
        (needle, name) -> {
          byte[] bytes = needle.toArray();
          for (int i = 0; i + bytes.length <= text.length; i++) {
            if (bytes.length > longestFrom[i]
                && Arrays.equals(text, i, i + bytes.length, bytes, 0, bytes.length)) {
              longestFrom[i] = bytes.length;
              service[i] = name;
            }
          }
        });
    var out = new ByteArrayOutputStream();
    int i = 0;
    while (i < text.length) {
      if (longestFrom[i] == 0) {
        out.write(text[i++]);
        continue;
      }
      out.writeBytes(("«redacted:" + service[i] + "»").getBytes(UTF_8));
      int end = i + longestFrom[i];
      while (i < end) {
        end = Math.max(end, i + longestFrom[i]);
        i++;
      }
    }
    return out.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5})
  void anyDivisionIntoChunksGivesWhatBruteForceGives(int letters) {
    for (long seed = 0; seed < 4_000; seed++) {
      var random = new Random(seed * 31 + letters);
      var fuzzed = new Redaction();
      var needles = new LinkedHashMap<ByteString, String>();
      var secrets = new ArrayList<byte[]>();
      for (int n = 1 + random.nextInt(4); n > 0; n--) {
        byte[] secret = letters(random, 4 + random.nextInt(7), letters);
        secrets.add(secret);
        String name = "s" + n;
        if (needles.containsKey(ByteString.fromArray(secret))) {
          continue;
        }
        fuzzed.add(name, secret);
        for (byte[] needle : RedactionNeedles.of(secret)) {
          needles.putIfAbsent(ByteString.fromArray(needle), name);
        }
        needles.put(ByteString.fromArray(secret), name);
      }
      byte[] text = text(random, secrets, letters);
      var out = new ByteArrayOutputStream();
      for (int at = 0; at < text.length; ) {
        int size = Math.min(text.length - at, 1 + random.nextInt(random.nextBoolean() ? 2 : 20));
        out.writeBytes(fuzzed.feed(ByteString.fromArray(text, at, size)).toArray());
        at += size;
      }
      out.writeBytes(fuzzed.flush().toArray());
      assertThat(out.toString(UTF_8))
          .as("seed %d of %d letters: %s", seed, letters, new String(text, UTF_8))
          .isEqualTo(new String(oracle(text, needles), UTF_8));
    }
  }

  private static byte[] letters(Random random, int length, int letters) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) ('a' + random.nextInt(letters));
    }
    return bytes;
  }

  private static byte[] text(Random random, List<byte[]> secrets, int letters) {
    var text = new ByteArrayOutputStream();
    while (text.size() < 60) {
      byte[] secret = secrets.get(random.nextInt(secrets.size()));
      switch (random.nextInt(4)) {
        case 0 -> text.writeBytes(secret);
        case 1 -> text.write(secret, 0, random.nextInt(secret.length));
        case 2 -> text.writeBytes(HexFormat.of().formatHex(secret).getBytes(UTF_8));
        default -> text.writeBytes(letters(random, 1 + random.nextInt(6), letters));
      }
    }
    return text.toByteArray();
  }
}
