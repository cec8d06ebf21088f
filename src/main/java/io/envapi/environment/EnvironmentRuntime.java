package io.envapi.environment;

import io.envapi.account.Account;
import io.envapi.account.Quotas;
import io.envapi.audit.AuditLog;
import io.envapi.files.FileSettings;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.sandbox.Sandbox;
import io.envapi.shell.ShellProcesses;
import io.envapi.shell.ShellRuntime;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * What every environment of a host shares.
 *
 * @param accounts tells an account what became of one of its environments
 * @param rows what is left in the journal of what is gone
 * @param quotas asks an account what it may use
 */
public record EnvironmentRuntime(
    Sandbox sandbox,
    ShellProcesses processes,
    ShellRuntime shells,
    FileSettings files,
    FileThreads fileThreads,
    AuditLog audit,
    Accounts accounts,
    JournalRows rows,
    Function<AccountId, CompletionStage<Quotas>> quotas) {

  /** The accounts, as environments speak to them. */
  @FunctionalInterface
  public interface Accounts {

    /** Completes when the account has stored it. */
    CompletionStage<Account.Noted> changed(
        AccountId account, EnvironmentId environment, Account.Change change);
  }
}
