package io.envapi.app;

import io.envapi.metrics.Metrics;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellMeter;

/** Counts what shells do among the metrics of the service. */
record MeteredShells(Metrics metrics) implements ShellMeter {

  @Override
  public void started(String tier, long nanos) {
    metrics.shellStarted(tier, nanos);
  }

  @Override
  public void notStarted() {
    metrics.shellNotStarted();
  }

  @Override
  public void ended(CommandRecord.Reason reason) {
    metrics.commandEnded(reason.label());
  }

  @Override
  public void printed(int bytes) {
    metrics.printed(bytes);
  }
}
