package io.envapi.files;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import java.util.Optional;

/**
 * What a {@link FileOperation} came to. Paths are relative to the workspace, {@code .} its root.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = FileAnswer.Listing.class, name = "listing"),
  @JsonSubTypes.Type(value = FileAnswer.Content.class, name = "content"),
  @JsonSubTypes.Type(value = FileAnswer.Mutated.class, name = "mutated"),
  @JsonSubTypes.Type(value = FileAnswer.Made.class, name = "made"),
  @JsonSubTypes.Type(value = FileAnswer.Deleted.class, name = "deleted"),
  @JsonSubTypes.Type(value = FileAnswer.Found.class, name = "found"),
  @JsonSubTypes.Type(value = FileAnswer.Transacted.class, name = "transacted"),
})
public sealed interface FileAnswer {

  /** What an entry is. */
  enum EntryKind {
    FILE,
    DIRECTORY,
    SYMLINK,
    OTHER
  }

  /**
   * One row of a listing.
   *
   * @param size apparent size in bytes
   * @param mtimeMicros microseconds since the epoch
   * @param mode permission bits
   * @param target the text of a link
   * @param nameBase64 the name's bytes, where {@code path} cannot address it
   */
  record Entry(
      String name,
      String path,
      EntryKind kind,
      long size,
      long mtimeMicros,
      int mode,
      int uid,
      Optional<String> target,
      Optional<String> nameBase64) {}

  /** {@code nextCursor} is there when entries are left. */
  record Listing(String path, List<Entry> entries, Optional<String> nextCursor)
      implements FileAnswer {
    public Listing {
      entries = entries == null ? List.of() : List.copyOf(entries);
    }
  }

  /** {@code binary}: the file as a whole is not text, and {@code content} is base64. */
  record Content(
      String path,
      long size,
      long offset,
      String content,
      ContentEncoding encoding,
      boolean truncated,
      boolean binary,
      String etag,
      long nextOffset)
      implements FileAnswer {}

  /** Hunks are numbered from 1. */
  record Mutated(
      String path,
      long size,
      String etag,
      String diff,
      List<Integer> appliedHunks,
      List<Integer> rejectedHunks)
      implements FileAnswer {
    public Mutated {
      appliedHunks = appliedHunks == null ? List.of() : List.copyOf(appliedHunks);
      rejectedHunks = rejectedHunks == null ? List.of() : List.copyOf(rejectedHunks);
    }
  }

  record Made(String path) implements FileAnswer {}

  record Deleted(String path) implements FileAnswer {}

  /** One answer for each operation, in their order. */
  record Transacted(List<FileAnswer> answers) implements FileAnswer {
    public Transacted {
      answers = answers == null ? List.of() : List.copyOf(answers);
    }
  }

  /** {@code originalChars} is the length before {@code text} was clipped, in characters. */
  record Line(int line, String text, boolean matched, int originalChars) {}

  /** One matching line with those around it, or one matching file with none. */
  record Match(String path, List<Line> lines) {
    public Match {
      lines = lines == null ? List.of() : List.copyOf(lines);
    }
  }

  /**
   * What a search found.
   *
   * @param truncated whether {@code totalMatches} exceeds the matches here
   * @param complete false when the search ran out of its time or its lists of skipped files out of
   *     room
   */
  record Found(
      long totalMatches,
      boolean truncated,
      List<Match> matches,
      List<String> skippedBinary,
      List<String> skippedLarge,
      List<String> skippedUnavailable,
      boolean complete)
      implements FileAnswer {
    public Found {
      matches = matches == null ? List.of() : List.copyOf(matches);
      skippedBinary = skippedBinary == null ? List.of() : List.copyOf(skippedBinary);
      skippedLarge = skippedLarge == null ? List.of() : List.copyOf(skippedLarge);
      skippedUnavailable = skippedUnavailable == null ? List.of() : List.copyOf(skippedUnavailable);
    }
  }
}
