package io.envapi.host;

import io.envapi.CborSerializable;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The environments of a host.
 *
 * @param environments oldest first
 * @param lastUid the uid given last, 0 before the first
 */
public record HostState(Map<String, Entry> environments, int lastUid) implements CborSerializable {

  static final HostState EMPTY = new HostState(Map.of(), 0);

  /** An environment of the host. */
  public record Entry(AccountId account, String profile, int uid) {}

  public HostState {
    environments = environments == null ? Map.of() : Collections.unmodifiableMap(environments);
  }

  Optional<AccountId> owner(EnvironmentId id) {
    return Optional.ofNullable(environments.get(id.value())).map(Entry::account);
  }

  boolean has(EnvironmentId id) {
    return environments.containsKey(id.value());
  }

  /**
   * The next uid in the range, after the one given last, that no environment has. Round the range,
   * so that a uid rests as long as it can before it is used again.
   */
  Optional<Integer> nextUid(int base, int count) {
    Set<Integer> taken = environments.values().stream().map(Entry::uid).collect(Collectors.toSet());
    int start = lastUid < base || lastUid >= base + count ? 0 : lastUid - base + 1;
    for (int i = 0; i < count; i++) {
      int uid = base + (start + i) % count;
      if (!taken.contains(uid)) {
        return Optional.of(uid);
      }
    }
    return Optional.empty();
  }

  HostState with(HostEvent event) {
    var next = new LinkedHashMap<>(environments);
    return switch (event) {
      case HostEvent.EnvironmentPlaced(var id, var account, var profile, var uid, _) -> {
        next.put(id.value(), new Entry(account, profile, uid));
        yield new HostState(next, uid);
      }
      case HostEvent.EnvironmentRemoved(var id) -> {
        next.remove(id.value());
        yield new HostState(next, lastUid);
      }
    };
  }
}
