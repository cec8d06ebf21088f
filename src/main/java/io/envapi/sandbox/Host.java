package io.envapi.sandbox;

import io.envapi.linux.Credentials;
import io.envapi.linux.Spawner;

/**
 * What the tiers have in common on one host.
 *
 * @param settings what the operator chose
 * @param credentials who the service runs as
 * @param spawner starts programs that are as free as the service
 * @param cgroups the control groups it can make
 * @param directories where environments are
 */
record Host(
    SandboxSettings settings,
    Credentials credentials,
    Spawner spawner,
    Cgroups cgroups,
    Directories directories) {

  static Host of(SandboxSettings settings) {
    Spawner spawner = Spawner.plain();
    return new Host(
        settings,
        Credentials.current(),
        spawner,
        Cgroups.detect(),
        new Directories(settings.root(), spawner));
  }

  /** Whether {@code uid} is one of those lent to environments. */
  boolean lends(int uid) {
    return uid >= settings.uidBase() && uid - settings.uidBase() < settings.uidCount();
  }

  /** The uid that the directory tier's shells share where the service is root. */
  int sharedUid() {
    return settings.uidBase() - 1;
  }

  /** How a shell of {@code launch} becomes the user {@code uid} with no privilege left. */
  static java.util.List<String> become(int uid) {
    String user = Integer.toString(uid);
    return java.util.List.of(
        Tools.require("setpriv"),
        "--reuid",
        user,
        "--regid",
        user,
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
        "--no-new-privs",
        "--");
  }
}
