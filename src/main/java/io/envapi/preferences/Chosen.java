package io.envapi.preferences;

import java.util.Optional;

/**
 * What holds for a request of one person; where empty, the deployment's value does.
 *
 * @param asked whether the settings service is in use
 * @param profile the one the request names, or the person's default
 * @param environmentIdleTtlSeconds within {@link Document#MOST_ENVIRONMENT_IDLE_SECONDS}
 * @param shellIdleTtlSeconds within {@link Document#MOST_SHELL_IDLE_SECONDS}
 * @param environmentsPerProfile at least 1
 * @param shell as the person wrote it: nothing says that it is installed, or a shell
 */
public record Chosen(
    boolean asked,
    String profile,
    Optional<Double> environmentIdleTtlSeconds,
    Optional<Double> shellIdleTtlSeconds,
    Optional<Long> environmentsPerProfile,
    Optional<String> shell) {

  static Chosen nothing(boolean asked, String profile) {
    return new Chosen(
        asked, profile, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }
}
