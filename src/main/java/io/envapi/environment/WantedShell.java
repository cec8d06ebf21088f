package io.envapi.environment;

import io.envapi.shell.TerminalSize;
import java.util.Map;
import java.util.Optional;

/** Why a shell is being opened. */
sealed interface WantedShell {

  Environment.Asked request();

  String cwd();

  Map<String, String> environment();

  Optional<TerminalSize> terminal();

  default boolean isForOneCommand() {
    return this instanceof ForOnce;
  }

  static WantedShell shell(Environment.OpenShell open) {
    return new ForCaller(open);
  }

  static WantedShell once(Environment.RunOnce run) {
    return new ForOnce(run);
  }

  record ForCaller(Environment.OpenShell request) implements WantedShell {

    @Override
    public String cwd() {
      return request.cwd();
    }

    @Override
    public Map<String, String> environment() {
      return request.environment();
    }

    @Override
    public Optional<TerminalSize> terminal() {
      return request.terminal();
    }
  }

  record ForOnce(Environment.RunOnce request) implements WantedShell {

    @Override
    public String cwd() {
      return request.once().cwd();
    }

    @Override
    public Map<String, String> environment() {
      return request.once().environment();
    }

    @Override
    public Optional<TerminalSize> terminal() {
      return request.once().terminal();
    }
  }
}
