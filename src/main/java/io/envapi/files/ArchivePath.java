package io.envapi.files;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A name in an archive, or where a link in it leads: bytes, as names on the disk are.
 *
 * @param octets each byte as one character
 */
record ArchivePath(String octets) {

  static ArchivePath of(byte[] bytes) {
    return new ArchivePath(new String(bytes, StandardCharsets.ISO_8859_1));
  }

  byte[] bytes() {
    return octets.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** What is between the slashes, also where that is nothing. */
  List<ArchivePath> parts() {
    return List.of(octets.split("/", -1)).stream().map(ArchivePath::new).toList();
  }

  int length() {
    return octets.length();
  }

  boolean isEmpty() {
    return octets.isEmpty();
  }

  boolean isAbsolute() {
    return octets.startsWith("/");
  }

  boolean isDirectory() {
    return octets.endsWith("/");
  }

  boolean is(String name) {
    return octets.equals(name);
  }

  boolean hasNul() {
    return octets.indexOf('\0') >= 0;
  }

  String shown() {
    return ShownName.of(bytes()).replace("\0", "\\0");
  }
}
