package io.envapi.http;

import java.io.IOException;

/** A request whose body did not arrive as it should: its client hung up, stalled, or erred. */
final class BrokenBody extends IOException {

  private static final long serialVersionUID = 1L;

  BrokenBody(String why) {
    super(why);
  }
}
