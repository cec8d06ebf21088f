package io.envapi.shell;

import io.envapi.id.CommandId;

/**
 * The beginnings and ends of a shell's commands, numbered as they follow each other. A shell runs
 * one command at a time, so one number says which of them somebody knows: all up to that one.
 */
public final class CommandMarks {

  /** Before the first command. */
  public static final int NONE = 0;

  private CommandMarks() {}

  public static int beginning(CommandId command) {
    return 2 * command.number() - 1;
  }

  public static int end(CommandId command) {
    return 2 * command.number();
  }

  /** Whether it is the beginning or the end of this command. */
  public static boolean isOf(CommandId command, int mark) {
    return mark == beginning(command) || mark == end(command);
  }
}
