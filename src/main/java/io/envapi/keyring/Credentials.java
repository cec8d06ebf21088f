package io.envapi.keyring;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the keyring gave for one command.
 *
 * @param variables by service, the environment variables its credential becomes
 * @param missing the services nothing is stored for
 */
public record Credentials(
    SortedMap<String, SequencedMap<String, Secret>> variables, SortedSet<String> missing) {

  public static final Credentials NONE = new Credentials(new TreeMap<>(), new TreeSet<>());

  public Credentials {
    variables = Collections.unmodifiableSortedMap(new TreeMap<>(variables));
    missing = Collections.unmodifiableSortedSet(new TreeSet<>(missing));
  }

  /** Overwrites the values: of what was made of them before, strings are the collector's. */
  public void wipe() {
    variables.values().forEach(values -> values.values().forEach(Secret::wipe));
  }

  /** All variables together; of two services that spell alike the later one wins. */
  public Map<String, Secret> merged() {
    var all = new LinkedHashMap<String, Secret>();
    variables.values().forEach(all::putAll);
    return Collections.unmodifiableMap(all);
  }
}
