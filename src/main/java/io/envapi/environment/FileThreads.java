package io.envapi.environment;

import io.envapi.id.AccountId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * Where the files of all environments of a host are worked on. No account has more than half of the
 * threads, however many environments it has.
 */
public final class FileThreads {

  /** Of all environments of a host. */
  public static final int ALL = 32;

  static final int OF_AN_ACCOUNT = 16;

  private final Executor threads;
  private final Map<AccountId, Executor> accounts = new ConcurrentHashMap<>();

  /**
   * @param threads {@link #ALL} of them, which may block
   */
  public FileThreads(Executor threads) {
    this.threads = threads;
  }

  /** For one environment of {@code account}. */
  FileTurns of(AccountId account) {
    return new FileTurns(accounts.computeIfAbsent(account, _ -> new Turns(threads, OF_AN_ACCOUNT)));
  }
}
