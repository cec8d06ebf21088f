package io.envapi.shell;

/** A terminal's size in characters. */
public record TerminalSize(int rows, int columns) {

  public static final TerminalSize DEFAULT = new TerminalSize(24, 80);
}
