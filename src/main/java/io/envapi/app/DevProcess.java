package io.envapi.app;

import java.io.IOException;
import java.util.Map;
import java.util.function.Function;

/** A stand-in as a process of its own, with settings from the environment. */
final class DevProcess {

  private static final int MIN_TOKEN_CHARS = 32;

  /** What starts the stand-in. */
  @FunctionalInterface
  interface Start<T> {
    /**
     * @throws IllegalArgumentException a variable is wrong; the message is for the user
     */
    T with(Map<String, String> environment) throws IOException;
  }

  private DevProcess() {}

  /** Runs until a signal, which ends it with exit status 0. */
  static <T extends AutoCloseable> void run(
      String name, Start<T> start, Function<T, String> address) {
    try {
      T server = start.with(System.getenv());
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> end(server)));
      System.err.println(name + ": listening on " + address.apply(server) + " (development only)");
    } catch (IOException | IllegalArgumentException e) {
      System.err.println(name + ": " + e.getMessage());
      System.exit(1);
    }
  }

  private static void end(AutoCloseable server) {
    try {
      server.close();
    } catch (Exception e) {
      System.err.println(e.getMessage());
    }
    // Otherwise the exit status would be the signal's, 143.
    Runtime.getRuntime().halt(0);
  }

  static String token(Map<String, String> environment, String variable, String otherwise) {
    String token = environment.getOrDefault(variable, otherwise).trim();
    if (token.length() < MIN_TOKEN_CHARS) {
      throw new IllegalArgumentException(variable + " needs 32 characters or more");
    }
    return token;
  }

  static int port(Map<String, String> environment, String variable, String otherwise) {
    try {
      int port = Integer.parseInt(environment.getOrDefault(variable, otherwise).trim());
      if (port >= 0 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message.
    }
    throw new IllegalArgumentException(variable + " is no port number");
  }
}
