package io.envapi.files;

import io.envapi.linux.FileStat;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The tags of a file (RFC 9110, section 8.8.3). The tag of its content is the SHA-256 of all of it.
 * Reading a large file just for its tag would cost as much as sending it, so a transfer tags a file
 * over {@link #HASHED} bytes by what the kernel tells of it: inode, size and time of change. That
 * time is coarse, so for two seconds after a change this tag is weak. A precondition may name
 * either.
 */
final class ContentTag {

  /** Up to this size, in bytes, a transfer tags a file by its content. */
  static final long HASHED = 16L << 20;

  private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final String STATE = "\"s-";

  private ContentTag() {}

  /** The tag that a transfer shows. */
  static String shown(WorkspaceRoot.Opened opened, Clock clock) {
    if (opened.stat().size() <= HASHED) {
      return ContentScan.scan(opened.file()).etag();
    }
    long age = TimeUnit.MILLISECONDS.toNanos(clock.millis()) - opened.stat().changedNanos();
    return (age > SETTLED_NANOS ? "" : "W/") + ofState(opened.stat());
  }

  private static String ofState(FileStat stat) {
    return "%s%x-%x-%x\"".formatted(STATE, stat.inode(), stat.size(), stat.changedNanos());
  }

  /** Refuses unless the precondition holds for the file. */
  static void check(IfMatch ifMatch, WorkspaceRoot.Opened opened) {
    if (ifMatch.given() && !isNamed(ifMatch, opened)) {
      throw Refusal.changed();
    }
  }

  /** As {@link #check}, for {@code If-None-Match}. */
  static void checkNone(IfMatch ifNoneMatch, WorkspaceRoot.Opened opened) {
    if (ifNoneMatch.given() && isNamed(ifNoneMatch, opened)) {
      throw Refusal.changed();
    }
  }

  /** Whether one of the tags, or {@code *}, is the file's. */
  static boolean isNamed(IfMatch tags, WorkspaceRoot.Opened opened) {
    if (tags.any() || tags.tags().contains(ofState(opened.stat()))) {
      return true;
    }
    List<String> ofContent = tags.tags().stream().filter(t -> !t.startsWith(STATE)).toList();
    return !ofContent.isEmpty() && ofContent.contains(ContentScan.scan(opened.file()).etag());
  }
}
