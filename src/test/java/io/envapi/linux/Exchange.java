package io.envapi.linux;

/** Lets two names change places in one step, as an attacker in a workspace would. */
public final class Exchange {

  private Exchange() {}

  public static void names(Directory directory, FileName one, FileName other) {
    FileDescriptor at = directory.descriptor();
    FileCalls.renameat2(at, one.raw(), at, other.raw(), FileCalls.RENAME_EXCHANGE);
  }
}
