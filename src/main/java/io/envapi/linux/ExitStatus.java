package io.envapi.linux;

/** How a process ended, as waitid(2) reports it. */
public sealed interface ExitStatus {

  /** It called exit; {@code code} is 0 to 255. */
  record Exited(int code) implements ExitStatus {}

  /** A signal ended it, whether or not it dumped core. */
  record Signaled(int signal) implements ExitStatus {}
}
