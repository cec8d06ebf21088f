package io.envapi.sandbox;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Spawner;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which tier is used: the strongest in which a shell, started as it will be for callers,
 * can do its work and cannot do what it must not.
 */
public final class SandboxProbe {

  private static final Logger LOG = LoggerFactory.getLogger(SandboxProbe.class);

  /** What was decided. */
  public sealed interface Outcome {

    /**
     * @param sandbox the tier to use
     * @param unavailable why each stronger tier is not
     */
    record Chosen(Sandbox sandbox, Map<SandboxTier, String> unavailable) implements Outcome {
      public Chosen {
        unavailable = Map.copyOf(unavailable);
      }
    }

    /** The service must not start. */
    record Refused(String message) implements Outcome {}
  }

  private final Host host;
  private final Map<SandboxTier, String> reasons = new EnumMap<>(SandboxTier.class);

  private SandboxProbe(Host host) {
    this.host = host;
  }

  /** Tries the tiers out below the data root, and leaves nothing there. */
  public static Outcome probe(SandboxSettings settings) {
    return new SandboxProbe(Host.of(settings)).decide();
  }

  private Outcome decide() {
    SandboxSettings settings = host.settings();
    List<SandboxTier> candidates =
        settings
            .forcedTier()
            .map(List::of)
            .orElse(List.of(SandboxTier.NAMESPACE, SandboxTier.USER, SandboxTier.DIRECTORY));
    for (SandboxTier tier : candidates) {
      Optional<Sandbox> sandbox = attempt(tier);
      if (sandbox.isPresent()) {
        return tier.compareTo(settings.minTier()) < 0
            ? refused("ENVAPI_MIN_SANDBOX_TIER is " + settings.minTier().label())
            : new Outcome.Chosen(sandbox.get(), reasons);
      }
    }
    return refused(
        settings
            .forcedTier()
            .map(tier -> "ENVAPI_SANDBOX_TIER is " + tier.label())
            .orElse("no sandbox tier works"));
  }

  private Outcome refused(String what) {
    String why =
        reasons.entrySet().stream()
            .map(reason -> reason.getKey().label() + ": " + reason.getValue())
            .collect(Collectors.joining("; "));
    return new Outcome.Refused(
        why.isEmpty() ? what + ", and a weaker tier is forced" : what + ", but " + why);
  }

  private Optional<Sandbox> attempt(SandboxTier tier) {
    try {
      Optional<Sandbox> found =
          switch (tier) {
            case NAMESPACE -> namespace();
            case USER -> user();
            case DIRECTORY -> directory();
          };
      found.ifPresent(sandbox -> reasons.remove(tier));
      return found;
    } catch (LinuxException e) {
      reasons.put(tier, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  private Optional<Sandbox> namespace() {
    List<String> missing =
        Tools.missing(List.of("bwrap", "nsenter", "setpriv", "setsid", "unshare"));
    Optional<byte[]> filter = Seccomp.filter(Seccomp.Place.INSIDE);
    Optional<byte[]> joining = Seccomp.filter(Seccomp.Place.JOINING);
    if (!missing.isEmpty()) {
      return unavailable(SandboxTier.NAMESPACE, "not installed: " + String.join(", ", missing));
    }
    if (filter.isEmpty() || joining.isEmpty()) {
      return unavailable(
          SandboxTier.NAMESPACE, "no system call filter for " + System.getProperty("os.arch"));
    }
    Spawner joiner = Spawner.confined(joining.get());
    Optional<Sandbox> direct =
        trial(SandboxTier.NAMESPACE, () -> new NamespaceSandbox(host, filter.get(), joiner, false));
    return direct.isPresent() || !host.credentials().isRoot()
        ? direct
        : trial(
            SandboxTier.NAMESPACE, () -> new NamespaceSandbox(host, filter.get(), joiner, true));
  }

  private Optional<Sandbox> user() {
    if (!host.credentials().isRoot()) {
      return unavailable(SandboxTier.USER, "the service is not root");
    }
    List<String> missing = Tools.missing(List.of("setpriv"));
    return missing.isEmpty()
        ? reachable(SandboxTier.USER, root -> new UserSandbox(host, root))
        : unavailable(SandboxTier.USER, "not installed: " + String.join(", ", missing));
  }

  private Optional<Sandbox> directory() {
    Optional<Sandbox> shared =
        host.credentials().isRoot() && Tools.missing(List.of("setpriv")).isEmpty()
            ? reachable(SandboxTier.DIRECTORY, root -> new DirectorySandbox(host, true, root))
            : Optional.empty();
    return shared.isPresent()
        ? shared
        : trial(SandboxTier.DIRECTORY, () -> new DirectorySandbox(host, false, Optional.empty()));
  }

  /** A tier whose shells are another user: where that one cannot reach the data root, made to. */
  private Optional<Sandbox> reachable(
      SandboxTier tier, Function<Optional<ReachableRoot>, Sandbox> make) {
    Optional<Path> closed = ReachableRoot.closedAbove(host.settings().root());
    Optional<Sandbox> direct = trial(tier, () -> make.apply(Optional.empty()));
    if (direct.isPresent() || closed.isEmpty() || !Tools.missing(ReachableRoot.TOOLS).isEmpty()) {
      return direct;
    }
    try {
      ReachableRoot root = ReachableRoot.below(closed.get(), host);
      Optional<Sandbox> found = trial(tier, () -> make.apply(Optional.of(root)));
      if (found.isEmpty()) {
        root.close();
      }
      return found;
    } catch (SandboxException e) {
      return unavailable(tier, reasons.getOrDefault(tier, "") + ", and " + e.reason());
    }
  }

  private Optional<Sandbox> unavailable(SandboxTier tier, String reason) {
    reasons.put(tier, reason);
    return Optional.empty();
  }

  private Optional<Sandbox> trial(SandboxTier tier, Supplier<Sandbox> make) {
    Sandbox sandbox = make.get();
    EnvironmentId environment = EnvironmentId.random();
    int uid = host.settings().uidBase() + host.settings().uidCount() - 1;
    if (!(sandbox.prepare(environment, uid) instanceof Result.Ok<Workspace>(var workspace))) {
      return unavailable(tier, "no workspace can be made below the data root");
    }
    try {
      if (sandbox instanceof NamespaceSandbox namespaces) {
        namespaces.hold(environment, workspace, false);
      }
      Optional<String> trouble = Trial.run(host, sandbox, environment, workspace);
      if (trouble.isEmpty()) {
        return Optional.of(sandbox);
      }
      return unavailable(tier, trouble.get());
    } catch (SandboxException e) {
      return unavailable(tier, e.reason());
    } finally {
      sandbox.remove(environment, workspace);
      LOG.debug("tried the {} tier: {}", tier.label(), reasons.getOrDefault(tier, "it works"));
    }
  }
}
