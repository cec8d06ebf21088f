package io.envapi.environment;

import io.envapi.account.Account;
import io.envapi.account.Quotas;
import io.envapi.audit.AuditLog;
import io.envapi.files.FileSettings;
import io.envapi.id.AccountId;
import io.envapi.sandbox.Sandbox;
import io.envapi.shell.ShellProcesses;
import io.envapi.shell.ShellRuntime;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * What every environment of a host shares.
 *
 * @param changed tells an account what became of one of its environments
 * @param quotas asks an account what it may use
 */
public record EnvironmentRuntime(
    Sandbox sandbox,
    ShellProcesses processes,
    ShellRuntime shells,
    FileSettings files,
    AuditLog audit,
    BiConsumer<AccountId, Account.Changed> changed,
    Function<AccountId, CompletionStage<Quotas>> quotas) {}
