package io.envapi.idempotency;

import java.util.List;
import java.util.Optional;

/**
 * The answer to a request, as it is given again.
 *
 * @param mediaType empty for an answer without a body
 * @param body empty when it was too large to keep
 */
public record StoredAnswer(
    int status, String mediaType, List<Header> headers, Optional<String> body) {

  /** A header of the answer. */
  public record Header(String name, String value) {}

  public StoredAnswer {
    headers = headers == null ? List.of() : List.copyOf(headers);
  }

  /** As for an answer that is too large. */
  StoredAnswer withoutBody() {
    return new StoredAnswer(status, "", List.of(), Optional.empty());
  }

  /** What it takes to keep it, in bytes, roughly. */
  int size() {
    int size = body.map(String::length).orElse(0);
    for (Header header : headers) {
      size += header.name().length() + header.value().length();
    }
    return size;
  }
}
