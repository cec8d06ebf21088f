package io.envapi.sandbox;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.Credentials;
import io.envapi.linux.Spawner;
import java.util.List;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(Host.class);

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

  /** As {@link Sandbox#prepare}, of an environment that has the uid on the host too. */
  Result<Workspace> prepare(EnvironmentId environment, int uid) {
    if (lends(uid)) {
      return directories.prepare(environment, uid, OptionalInt.of(uid));
    }
    LOG.warn(
        "{} cannot be used: its uid {} is not between {} and {} any more",
        environment,
        uid,
        settings.uidBase(),
        settings.uidBase() + settings.uidCount() - 1);
    return Result.refused(new Failure.SandboxFailed("its uid is not lent any more"));
  }

  /** The uid that the directory tier's shells share where the service is root. */
  int sharedUid() {
    return settings.uidBase() - 1;
  }

  /** The command line that drops all privilege and becomes {@code uid}. */
  static List<String> become(int uid) {
    String user = Integer.toString(uid);
    return List.of(
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
