package io.envapi.files;

import io.envapi.linux.FileStat;
import java.util.List;
import java.util.Optional;

/**
 * New content for a file, not stored yet.
 *
 * @param old what is at its place
 * @param same whether the content is what the file holds
 * @param isNew whether the place must be free when the file takes it
 */
record FileChange(
    WorkspacePath path,
    Optional<FileStat> old,
    FileBytes bytes,
    int mode,
    boolean same,
    boolean isNew,
    String diff,
    List<Integer> applied,
    List<Integer> rejected) {

  byte[] content() {
    return bytes.array();
  }

  /** The bytes that it adds to what is on the disk. */
  long growth() {
    return bytes.length() - old.map(DiskMeter::freedBy).orElse(0L);
  }

  FileChange unchanged() {
    return new FileChange(path, old, bytes, mode, true, isNew, diff, applied, rejected);
  }

  int uid(WorkspaceRoot root) {
    return old.map(FileStat::uid).orElse(root.uid());
  }

  int gid(WorkspaceRoot root) {
    return old.map(FileStat::gid).orElse(root.gid());
  }

  FileAnswer.Mutated answer() {
    return new FileAnswer.Mutated(
        path.shown(), bytes.length(), ContentScan.etag(content()), diff, applied, rejected);
  }
}
