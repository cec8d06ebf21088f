package io.envapi.files;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.Optional;

/**
 * One step of moving the bytes of a file, piece by piece, between a caller and the host that has
 * the file. A transfer is opened, gets an id, and is closed by its last step or by {@link Close};
 * one that nobody goes on with is closed after {@link FileTree#TRANSFER_IDLE}.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = TransferStep.OpenRead.class, name = "open-read"),
  @JsonSubTypes.Type(value = TransferStep.Read.class, name = "read"),
  @JsonSubTypes.Type(value = TransferStep.OpenWrite.class, name = "open-write"),
  @JsonSubTypes.Type(value = TransferStep.Append.class, name = "append"),
  @JsonSubTypes.Type(value = TransferStep.Commit.class, name = "commit"),
  @JsonSubTypes.Type(value = TransferStep.OpenArchive.class, name = "open-archive"),
  @JsonSubTypes.Type(value = TransferStep.OpenUnpack.class, name = "open-unpack"),
  @JsonSubTypes.Type(value = TransferStep.Unpack.class, name = "unpack"),
  @JsonSubTypes.Type(value = TransferStep.OpenWatch.class, name = "open-watch"),
  @JsonSubTypes.Type(value = TransferStep.Watch.class, name = "watch"),
  @JsonSubTypes.Type(value = TransferStep.Close.class, name = "close"),
})
public sealed interface TransferStep {

  /**
   * Opens a file for reading: the answers come from the file as it is now, whatever is renamed over
   * it meanwhile.
   *
   * @param keep false to look only; then nothing stays open
   */
  record OpenRead(SentPath path, IfMatch ifMatch, IfMatch ifNoneMatch, boolean keep)
      implements TransferStep {}

  /**
   * At most {@code length} bytes from {@code offset} on. An archive, which is made while it is
   * read, takes its offsets in order.
   */
  record Read(String transfer, long offset, int length) implements TransferStep {}

  /**
   * Begins to store a file beside its place.
   *
   * @param ifNoneMatch {@code *} for a file that must be new
   * @param length bytes to come, if known
   */
  record OpenWrite(SentPath path, IfMatch ifMatch, IfMatch ifNoneMatch, Optional<Long> length)
      implements TransferStep {}

  /** More of a file; {@code offset} is what was sent before. */
  record Append(String transfer, long offset, FileBytes bytes) implements TransferStep {}

  /** All of it is there: it takes its place. */
  record Commit(String transfer) implements TransferStep {}

  /** An archive of what is in a directory, or of one file. */
  record OpenArchive(SentPath path, ArchiveFormat format) implements TransferStep {}

  /** Begins to store an archive that is to be unpacked below {@code path}. */
  record OpenUnpack(SentPath path, ArchiveFormat format, Optional<Long> length)
      implements TransferStep {}

  /** All of the archive is there: it is unpacked. */
  record Unpack(String transfer) implements TransferStep {}

  /** Watches a directory and {@code depth} levels below it, 0..10. */
  record OpenWatch(SentPath path, int depth) implements TransferStep {}

  /** What a watch saw after the change of this number. */
  record Watch(String transfer, long after) implements TransferStep {}

  /** Ends a transfer and takes back what it stored; fine when it is over already. */
  record Close(String transfer) implements TransferStep {}
}
