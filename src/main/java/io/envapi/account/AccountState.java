package io.envapi.account;

import io.envapi.CborSerializable;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The index of an account's environments and its quota overrides.
 *
 * @param environments oldest first
 */
public record AccountState(Map<String, Entry> environments, Map<String, Number> overrides)
    implements CborSerializable {

  static final AccountState EMPTY = new AccountState(Map.of(), Map.of());

  /** Where an environment is in its life, as far as its account counts it. */
  public enum Phase {
    RESERVED,
    ACTIVE,
    ARCHIVED
  }

  /** An environment in the index. */
  public record Entry(HostId host, String profile, Phase phase) {

    Entry in(Phase next) {
      return new Entry(host, profile, next);
    }
  }

  public AccountState {
    environments =
        environments == null ? Map.of() : java.util.Collections.unmodifiableMap(environments);
    overrides = overrides == null ? Map.of() : Map.copyOf(overrides);
  }

  /** Environments that count against the quotas. */
  long counted() {
    return environments.values().stream().filter(e -> e.phase() != Phase.ARCHIVED).count();
  }

  long counted(String profile) {
    return environments.values().stream()
        .filter(e -> e.phase() != Phase.ARCHIVED && e.profile().equals(profile))
        .count();
  }

  /** Places taken for environments that nobody has said to be made. */
  List<EnvironmentId> reserved() {
    return environments.entrySet().stream()
        .filter(e -> e.getValue().phase() == Phase.RESERVED)
        .map(e -> new EnvironmentId(e.getKey()))
        .toList();
  }

  /** Where its environments are, oldest first. */
  List<Account.Located> located() {
    return environments.entrySet().stream()
        .filter(e -> e.getValue().phase() != Phase.RESERVED)
        .map(
            e ->
                new Account.Located(
                    new EnvironmentId(e.getKey()), e.getValue().host(), e.getValue().profile()))
        .toList();
  }

  AccountState with(AccountEvent event) {
    return switch (event) {
      case AccountEvent.EnvironmentReserved(var id, var host, var profile, _) ->
          put(id, new Entry(host, profile, Phase.RESERVED));
      case AccountEvent.EnvironmentPlaced(var id) -> move(id, Phase.ACTIVE);
      case AccountEvent.EnvironmentArchived(var id) -> move(id, Phase.ARCHIVED);
      case AccountEvent.EnvironmentRevived(var id) -> move(id, Phase.ACTIVE);
      case AccountEvent.EnvironmentReleased(var id) -> without(id);
      case AccountEvent.QuotasOverridden(var replaced, _) ->
          new AccountState(environments, replaced);
    };
  }

  private AccountState put(EnvironmentId id, Entry entry) {
    var next = new LinkedHashMap<>(environments);
    next.put(id.value(), entry);
    return new AccountState(next, overrides);
  }

  private AccountState move(EnvironmentId id, Phase phase) {
    Entry entry = environments.get(id.value());
    return entry == null ? this : put(id, entry.in(phase));
  }

  private AccountState without(EnvironmentId id) {
    var next = new LinkedHashMap<>(environments);
    next.remove(id.value());
    return new AccountState(next, overrides);
  }
}
