package io.envapi.files;

/** How a tree is put into one file. */
public enum ArchiveFormat {
  /** With links. Names are kept byte for byte. */
  TAR_GZ,
  /** Without links. A name that is no UTF-8 is written as listings show it. */
  ZIP
}
