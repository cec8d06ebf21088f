package io.envapi.files;

/** How a tree is put into one file. Names are kept byte for byte. */
public enum ArchiveFormat {
  /** With links. */
  TAR_GZ,
  /** Without links. A name that is UTF-8 is marked as such. */
  ZIP
}
