package io.envapi.shell;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.id.CommandId;
import java.util.List;
import java.util.Optional;

/** What happened in a shell. Output is never part of an event. Times are epoch ms. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = ShellEvent.CommandStarted.class, name = "command-started"),
  @JsonSubTypes.Type(value = ShellEvent.CommandFinished.class, name = "command-finished"),
})
public sealed interface ShellEvent {

  /** The command that it happened to. */
  CommandId id();

  record CommandStarted(
      CommandId id,
      String command,
      long startedAt,
      long outputStart,
      Optional<Long> timeoutMs,
      List<String> credentialsInjected,
      List<String> credentialsMissing)
      implements ShellEvent {}

  record CommandFinished(
      CommandId id,
      CommandRecord.State state,
      CommandRecord.Reason reason,
      Optional<Integer> exitCode,
      Optional<Integer> signal,
      long finishedAt,
      long outputEnd,
      long logBytes,
      boolean logTruncated)
      implements ShellEvent {}
}
