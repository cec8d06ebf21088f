package io.envapi.shell;

/** Is told what shells do, to count it. Called often, by several threads; must not block. */
public interface ShellMeter {

  /** Counts nothing. */
  ShellMeter NONE =
      new ShellMeter() {
        @Override
        public void started(String tier, long nanos) {}

        @Override
        public void notStarted() {}

        @Override
        public void ended(CommandRecord.Reason reason) {}

        @Override
        public void printed(int bytes) {}
      };

  /** A shell was started, in so many nanoseconds. */
  void started(String tier, long nanos);

  /** A shell could not be started. */
  void notStarted();

  /** A command ended. */
  void ended(CommandRecord.Reason reason);

  /** A shell printed something. */
  void printed(int bytes);
}
