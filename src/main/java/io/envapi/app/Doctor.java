package io.envapi.app;

import io.envapi.sandbox.Layers;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.SandboxProbe;
import io.envapi.sandbox.SandboxSettings;
import io.envapi.sandbox.SandboxTier;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says which sandbox tiers this host gives under the present settings, which layers each has, and
 * what to do about those that are missing. Ends with status 0 if the service would start.
 *
 * <p>It tries every tier as the service does at its start, below the data root, and leaves nothing
 * there.
 */
public final class Doctor {

  /** A setting of the kernel that a sandbox does not rely on, but that weakens the host. */
  private record Weakness(String file, String weak, String remark) {}

  private static final List<Weakness> WEAKNESSES =
      List.of(
          new Weakness(
              "/proc/sys/dev/tty/legacy_tiocsti",
              "1",
              "dev.tty.legacy_tiocsti=1: typing into other terminals is left to the filter to stop"),
          new Weakness(
              "/proc/sys/fs/protected_symlinks",
              "0",
              "fs.protected_symlinks=0: links in shared directories can mislead programs"),
          new Weakness(
              "/proc/sys/fs/protected_hardlinks",
              "0",
              "fs.protected_hardlinks=0: users can link to files that are not theirs"),
          new Weakness(
              "/proc/sys/kernel/unprivileged_bpf_disabled",
              "0",
              "kernel.unprivileged_bpf_disabled=0: any user of the host may load BPF programs"));

  /** What to do about a reason that contains {@code clue}. */
  private record Fix(String clue, String advice) {}

  private static final List<Fix> FIXES =
      List.of(
          new Fix("not installed", "apt-get install bubblewrap util-linux"),
          new Fix(
              "not root", "run the service as root: each environment then is a user of its own"),
          new Fix(
              "the workspace cannot be entered",
              "let everybody traverse the directories above ENVAPI_ROOT (chmod o+x), or set it to"
                  + " one like /var/lib/envapi"),
          new Fix("no system call filter", "use x86-64 or arm64"),
          new Fix(
              "namespace",
              "allow user namespaces: user.max_user_namespaces above 0 and"
                  + " kernel.apparmor_restrict_unprivileged_userns=0; in a container, let it create"
                  + " namespaces (CAP_SYS_ADMIN, and a seccomp profile that permits it)"),
          new Fix("uid map", "allow user namespaces to unprivileged users on this host"),
          new Fix(
              "Operation not permitted",
              "the host or the container runtime forbids it: look for seccomp, AppArmor, SELinux"));

  private final SandboxSettings settings;
  private final PrintStream out;

  private Doctor(SandboxSettings settings, PrintStream out) {
    this.settings = settings;
    this.out = out;
  }

  public static void main(String[] arguments) {
    switch (Settings.load(System.getenv())) {
      case Settings.Invalid invalid -> {
        System.err.println(invalid.message());
        System.exit(1);
      }
      case Settings.Loaded(var loaded) -> {
        // What a probe logs is in what the doctor says of it.
        LogSetup.apply(new LogSettings(false, "OFF"));
        System.exit(new Doctor(loaded.sandbox(), System.out).examine() ? 0 : 1);
      }
    }
  }

  private boolean examine() {
    Optional<DataRoot.Unusable> fault = DataRoot.fault(settings.root());
    if (fault.isPresent()) {
      out.println("the service would not start: " + fault.get().why());
      return false;
    }
    for (SandboxTier tier :
        List.of(SandboxTier.NAMESPACE, SandboxTier.USER, SandboxTier.DIRECTORY)) {
      switch (SandboxProbe.probe(with(SandboxTier.DIRECTORY, Optional.of(tier)))) {
        case SandboxProbe.Outcome.Chosen(var sandbox, var _) -> works(sandbox);
        case SandboxProbe.Outcome.Refused(var message) -> fails(tier, message);
      }
    }
    WEAKNESSES.stream()
        .filter(Doctor::isWeak)
        .forEach(w -> out.println("note       " + w.remark()));
    DiskQuotas.of(settings.root()).map(DiskQuotas::line).ifPresent(out::println);
    return switch (SandboxProbe.probe(settings)) {
      case SandboxProbe.Outcome.Chosen(var sandbox, var _) -> {
        out.println("the service would use the " + sandbox.tier().label() + " tier");
        yield true;
      }
      case SandboxProbe.Outcome.Refused(var message) -> {
        out.println("the service would not start: " + message);
        yield false;
      }
    };
  }

  private SandboxSettings with(SandboxTier least, Optional<SandboxTier> forced) {
    return new SandboxSettings(
        settings.root(),
        least,
        forced,
        settings.shellBinary(),
        settings.uidBase(),
        settings.uidCount(),
        settings.extraReadOnlyPaths(),
        settings.allowNetwork());
  }

  private void works(Sandbox sandbox) {
    Layers layers = sandbox.layers();
    out.printf(
        "%-10s yes: cgroup %s, seccomp %s, user namespace %s, network isolation %s%n",
        sandbox.tier().label(),
        layers.cgroup(),
        onOff(layers.seccomp()),
        onOff(layers.userns()),
        onOff(layers.network()));
    missing(layers).forEach(line -> out.printf("%-10s   %s%n", "", line));
  }

  private static List<String> missing(Layers layers) {
    List<String> missing = new ArrayList<>();
    if (layers.cgroup().equals("none")) {
      missing.add(
          "no control group can hold limits, so they are per process and per user;"
              + " fix: Delegate=yes in the systemd unit, or a writable cgroup mount in the container");
    }
    if (!layers.seccomp()) {
      missing.add("no system call filter; fix: a kernel with CONFIG_SECCOMP_FILTER");
    }
    return missing;
  }

  private void fails(SandboxTier tier, String message) {
    String prefix = "ENVAPI_SANDBOX_TIER is " + tier.label() + ", but " + tier.label() + ": ";
    String reason = message.startsWith(prefix) ? message.substring(prefix.length()) : message;
    out.printf("%-10s no: %s%n", tier.label(), reason);
    FIXES.stream()
        .filter(fix -> reason.contains(fix.clue()))
        .findFirst()
        .ifPresent(fix -> out.printf("%-10s   fix: %s%n", "", fix.advice()));
  }

  private static boolean isWeak(Weakness weakness) {
    try {
      return Files.readString(Path.of(weakness.file())).strip().equals(weakness.weak());
    } catch (IOException e) {
      return false;
    }
  }

  private static String onOff(boolean on) {
    return on ? "on" : "off";
  }
}
