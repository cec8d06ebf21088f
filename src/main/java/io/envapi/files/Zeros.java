package io.envapi.files;

import java.io.IOException;
import java.io.InputStream;

/** The padding behind an archive. */
final class Zeros {

  private Zeros() {}

  /** Reads to the end. */
  static void require(InputStream rest) throws IOException {
    byte[] piece = new byte[FileBytes.MOST];
    for (int read = rest.read(piece); read >= 0; read = rest.read(piece)) {
      for (int i = 0; i < read; i++) {
        if (piece[i] != 0) {
          throw new IOException("something follows the end of the archive");
        }
      }
    }
  }
}
