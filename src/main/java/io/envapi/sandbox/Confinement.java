package io.envapi.sandbox;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * How a tier gets a shell into its confinement.
 *
 * @param wrapper the programs, with their arguments, that put it there; each one execs the next
 * @param forks whether the shell is a child of the spawned process and not that process itself
 * @param start where the spawned process starts
 * @param home the workspace as the shell sees it
 * @param owner the user the shell becomes, if it is not the service's
 * @param adopter the process that orphans of the shell become children of
 * @param terminalInside whether the wrapper itself opens the terminal
 */
record Confinement(
    List<String> wrapper,
    boolean forks,
    Path start,
    String home,
    OptionalInt owner,
    int adopter,
    boolean terminalInside) {

  Confinement {
    wrapper = List.copyOf(wrapper);
  }
}
