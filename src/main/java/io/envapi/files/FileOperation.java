package io.envapi.files;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import java.util.Optional;

/** What a caller can ask of the files of a workspace. Travels to the host that has them. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = FileOperation.ListDirectory.class, name = "list-directory"),
  @JsonSubTypes.Type(value = FileOperation.ReadFile.class, name = "read-file"),
  @JsonSubTypes.Type(value = FileOperation.WriteFile.class, name = "write-file"),
  @JsonSubTypes.Type(value = FileOperation.EditFile.class, name = "edit-file"),
  @JsonSubTypes.Type(value = FileOperation.PatchFile.class, name = "patch-file"),
  @JsonSubTypes.Type(value = FileOperation.MakeDirectory.class, name = "make-directory"),
  @JsonSubTypes.Type(value = FileOperation.DeleteFile.class, name = "delete-file"),
  @JsonSubTypes.Type(value = FileOperation.CopyFile.class, name = "copy-file"),
  @JsonSubTypes.Type(value = FileOperation.MoveFile.class, name = "move-file"),
  @JsonSubTypes.Type(value = FileOperation.Search.class, name = "search"),
  @JsonSubTypes.Type(value = FileOperation.Transaction.class, name = "transaction"),
})
public sealed interface FileOperation {

  /** What a write does with what is there. */
  enum WriteMode {
    OVERWRITE,
    APPEND
  }

  /** What a search answers with. */
  enum SearchMode {
    CONTENT,
    FILES_WITH_MATCHES
  }

  /**
   * Entries in the order of their names, a directory's own entries after it.
   *
   * @param depth 0 for the directory itself, 10 at most
   * @param limit the most entries in the answer, 1..100,000
   * @param cursor where the answer before ended; empty for the start
   */
  record ListDirectory(
      SentPath path, Optional<String> glob, int depth, int limit, Optional<String> cursor)
      implements FileOperation {

    /** The most entries one answer has. */
    public static final int MOST = 100_000;
  }

  /** A window of a file; both in bytes. */
  record ReadFile(SentPath path, long offset, long maxBytes) implements FileOperation {}

  /**
   * @param ifNoneMatch {@code *} for a file that must be new
   */
  record WriteFile(
      SentPath path,
      String content,
      ContentEncoding encoding,
      WriteMode mode,
      IfMatch ifMatch,
      IfMatch ifNoneMatch)
      implements FileOperation {}

  record EditFile(SentPath path, String oldString, String newString, IfMatch ifMatch)
      implements FileOperation {}

  /** {@code patch} is unified hunks; lines {@code ---} and {@code +++} before them are ignored. */
  record PatchFile(SentPath path, String patch, IfMatch ifMatch) implements FileOperation {}

  record MakeDirectory(SentPath path) implements FileOperation {}

  record DeleteFile(SentPath path, boolean recursive, IfMatch ifMatch) implements FileOperation {}

  /** {@code ifMatch} is about the source. */
  record CopyFile(SentPath source, SentPath destination, IfMatch ifMatch)
      implements FileOperation {}

  record MoveFile(SentPath source, SentPath destination, IfMatch ifMatch)
      implements FileOperation {}

  /** Changes of files, all or none; 1..100, none of them a transaction. */
  record Transaction(List<FileOperation> operations) implements FileOperation {
    public Transaction {
      operations = operations == null ? List.of() : List.copyOf(operations);
    }
  }

  /**
   * Lines that contain {@code pattern}.
   *
   * @param regex whether the pattern is a regular expression (RE2), not literal text
   * @param gitignore whether to pass over what {@code .gitignore} files on the way say, and {@code
   *     .git}
   * @param depth 0 for the files of the directory itself, 10 at most
   * @param limit the most matches in the answer, 1..1000
   * @param before lines shown before a match, 0..20, and {@code after} behind it
   * @param maxFileBytes larger files are skipped; 1..16 MiB
   */
  record Search(
      String pattern,
      SentPath path,
      Optional<String> glob,
      int depth,
      SearchMode mode,
      int limit,
      int before,
      int after,
      int maxFileBytes,
      boolean regex,
      boolean gitignore)
      implements FileOperation {}
}
