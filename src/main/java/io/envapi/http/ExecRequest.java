package io.envapi.http;

import io.envapi.account.Quotas;
import io.envapi.shell.Shell;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * A command as a shell is to run it.
 *
 * @param waitMs how long the answer may wait for its end
 * @param subshell whether {@code exit} ends the command alone
 */
record ExecRequest(
    String command,
    long waitMs,
    Optional<Long> timeoutMs,
    CallerCredentials.Given credentials,
    Shell.Window window,
    boolean subshell) {

  Shell.Exec message(Quotas quotas, ActorRef<Shell.ExecReply> replyTo) {
    return new Shell.Exec(
        command,
        waitMs,
        timeoutMs,
        credentials.variables(),
        credentials.missing(),
        window,
        subshell,
        quotas.maxCommandLogBytes(),
        replyTo);
  }

  /** Without the command. */
  @Override
  public String toString() {
    return "ExecRequest[waitMs=" + waitMs + "]";
  }
}
