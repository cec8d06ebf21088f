package io.envapi.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The records of an extended header of pax, with their values as bytes. They should be UTF-8, and
 * are what the file system has where a writer could not convert that.
 */
final class PaxRecords {

  private final byte[] data;
  private int at;

  private PaxRecords(byte[] data) {
    this.data = data;
  }

  static Map<String, byte[]> parse(byte[] data) throws IOException {
    return new PaxRecords(data).records();
  }

  private Map<String, byte[]> records() throws IOException {
    var records = new LinkedHashMap<String, byte[]>();
    while (at < data.length) {
      int space = find(' ', at, data.length);
      int end = at + Integer.parseInt(text(at, space));
      if (end <= space || end > data.length || data[end - 1] != '\n') {
        throw new IOException("an extended header is wrong");
      }
      int equals = find('=', space, end);
      records.put(text(space + 1, equals), Arrays.copyOfRange(data, equals + 1, end - 1));
      at = end;
    }
    return records;
  }

  private int find(char wanted, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      if (data[i] == wanted) {
        return i;
      }
    }
    throw new IOException("an extended header is wrong");
  }

  private String text(int from, int to) {
    return new String(data, from, to - from, StandardCharsets.UTF_8);
  }
}
