package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.pekko.util.ByteString;

/** Server-sent events as bytes (WHATWG HTML, section 9.2). */
final class Sse {

  /** Keeps an idle connection alive; readers ignore it. */
  static final ByteString COMMENT = ByteString.fromString(":\n\n");

  private Sse() {}

  static ByteString event(String name, ObjectNode data) {
    // JSON as written here has no line break in it.
    return ByteString.fromString("event: " + name + "\ndata: ")
        .concat(ByteString.fromArrayUnsafe(Json.bytes(data)))
        .concat(ByteString.fromString("\n\n"));
  }

  /**
   * @param id where a reader that got this event goes on
   */
  static ByteString event(String name, long id, ObjectNode data) {
    return event(name, Long.toString(id), data);
  }

  /**
   * @param id where a reader that got this event goes on; no line break in it
   */
  static ByteString event(String name, String id, ObjectNode data) {
    return ByteString.fromString("id: " + id + "\n").concat(event(name, data));
  }
}
