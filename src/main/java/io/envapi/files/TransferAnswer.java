package io.envapi.files;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import java.util.Optional;

/** What a {@link TransferStep} came to. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = TransferAnswer.Opened.class, name = "opened"),
  @JsonSubTypes.Type(value = TransferAnswer.Unchanged.class, name = "unchanged"),
  @JsonSubTypes.Type(value = TransferAnswer.Piece.class, name = "piece"),
  @JsonSubTypes.Type(value = TransferAnswer.Writable.class, name = "writable"),
  @JsonSubTypes.Type(value = TransferAnswer.Appended.class, name = "appended"),
  @JsonSubTypes.Type(value = TransferAnswer.Stored.class, name = "stored"),
  @JsonSubTypes.Type(value = TransferAnswer.Archive.class, name = "archive"),
  @JsonSubTypes.Type(value = TransferAnswer.Unpacked.class, name = "unpacked"),
  @JsonSubTypes.Type(value = TransferAnswer.Watching.class, name = "watching"),
  @JsonSubTypes.Type(value = TransferAnswer.Changes.class, name = "changes"),
  @JsonSubTypes.Type(value = TransferAnswer.Closed.class, name = "closed"),
})
public sealed interface TransferAnswer {

  /**
   * A file that can be read.
   *
   * @param transfer empty when it was only looked at
   * @param etag with its quotes; may be weak
   * @param modified seconds since the epoch
   */
  record Opened(String transfer, String path, long size, String etag, long modified)
      implements TransferAnswer {}

  /** {@code If-None-Match} names the file as it is. */
  record Unchanged(String etag) implements TransferAnswer {}

  /** Fewer bytes than asked for only at the end. */
  record Piece(FileBytes bytes) implements TransferAnswer {}

  record Writable(String transfer) implements TransferAnswer {}

  record Appended(long size) implements TransferAnswer {}

  /** {@code created}: there was no such file before. */
  record Stored(String path, long size, String etag, boolean created) implements TransferAnswer {}

  /** An archive of {@code path} can be read. */
  record Archive(String transfer, String path) implements TransferAnswer {}

  /** {@code bytes} of the files together. */
  record Unpacked(String path, int entries, long bytes) implements TransferAnswer {}

  /** What may happen to a name. */
  enum ChangeKind {
    /** Also when it took the place of another. */
    CREATED,
    MODIFIED,
    DELETED,
    MOVED,
    /** Something was missed: only looking tells what is there. */
    OVERFLOW
  }

  /**
   * @param number counts from 1
   * @param from where a moved one was
   */
  record Change(long number, ChangeKind kind, String path, Optional<String> from) {}

  record Watching(String transfer) implements TransferAnswer {}

  record Changes(List<Change> changes) implements TransferAnswer {
    public Changes {
      changes = changes == null ? List.of() : List.copyOf(changes);
    }
  }

  record Closed() implements TransferAnswer {}
}
