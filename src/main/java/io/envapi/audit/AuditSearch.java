package io.envapi.audit;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Reads events from the newest back, a line at a time, and not for ever. */
final class AuditSearch {

  /** Lines are in the order of their writing, which is nearly that of their times. */
  private static final long DISORDER_MS = 60_000;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .nodeFactory(new JsonNodeFactory(true))
          .build();

  private final AuditFilter filter;
  private final List<AuditEvent> found = new ArrayList<>();
  private long readable;

  private AuditSearch(AuditFilter filter, long readable) {
    this.filter = filter;
    this.readable = readable;
  }

  /**
   * @param files from the newest on; closed in any case
   * @param mostBytes that are read
   */
  static AuditPage run(List<FileChannel> files, AuditFilter filter, long mostBytes)
      throws IOException {
    var search = new AuditSearch(filter, mostBytes);
    try {
      for (FileChannel file : files) {
        if (!search.goesOnBefore(file)) {
          break;
        }
      }
    } finally {
      for (FileChannel file : files) {
        file.close();
      }
    }
    Collections.reverse(search.found);
    return new AuditPage(search.found, search.readable <= 0);
  }

  /** Whether files older than this one are wanted too. */
  private boolean goesOnBefore(FileChannel file) throws IOException {
    var lines = new LinesBackwards(file);
    while (true) {
      if (found.size() >= filter.limit() || readable <= 0) {
        return false;
      }
      Optional<byte[]> line = lines.next();
      if (line.isEmpty()) {
        return true;
      }
      readable -= line.get().length + 1;
      Optional<AuditEvent> event = parse(line.get());
      if (event.isPresent() && isBefore(event.get())) {
        return false;
      }
      event.filter(filter::accepts).ifPresent(found::add);
    }
  }

  private boolean isBefore(AuditEvent event) {
    return filter.since().map(since -> event.at() < since - DISORDER_MS).orElse(false);
  }

  private static Optional<AuditEvent> parse(byte[] line) {
    try {
      return Optional.ofNullable(JSON.readTree(line)).flatMap(AuditEvent::read);
    } catch (JacksonException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }
}
