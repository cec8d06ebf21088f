package io.envapi.http;

import io.envapi.files.ContentEncoding;
import io.envapi.files.FileOperation;
import io.envapi.files.FileSettings;
import io.envapi.files.IfMatch;
import io.envapi.files.SentPath;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/** What callers ask of files. A path comes as {@code path}, or its bytes as {@code path_base64}. */
final class FileBodies {

  private static final int MAX_DEPTH = 10;
  private static final int MAX_SEARCHED_FILE = 16 << 20;

  private static final Map<String, ContentEncoding> ENCODINGS =
      Map.of("utf-8", ContentEncoding.UTF_8, "base64", ContentEncoding.BASE64);
  private static final Map<String, FileOperation.WriteMode> WRITE_MODES =
      Map.of(
          "overwrite", FileOperation.WriteMode.OVERWRITE, "append", FileOperation.WriteMode.APPEND);
  private static final Map<String, FileOperation.SearchMode> SEARCH_MODES =
      new LinkedHashMap<>(
          Map.of(
              "content", FileOperation.SearchMode.CONTENT,
              "files_with_matches", FileOperation.SearchMode.FILES_WITH_MATCHES));

  private static final int MAX_OPERATIONS = 100;

  private static final Map<String, BiFunction<Fields, IfMatch, FileOperation>> OPERATIONS =
      operations();

  /** Stands for one that is refused by its name, so that nothing more is said of it. */
  private static final FileOperation REFUSED = new FileOperation.MakeDirectory(SentPath.of("."));

  private FileBodies() {}

  private static Map<String, BiFunction<Fields, IfMatch, FileOperation>> operations() {
    var operations = new LinkedHashMap<String, BiFunction<Fields, IfMatch, FileOperation>>();
    operations.put(
        "write",
        (body, ifMatch) -> write(body, ifMatch, tags(body, "if_none_match", IfMatch::parseWeak)));
    operations.put("edit", FileBodies::edit);
    operations.put("patch", FileBodies::patch);
    operations.put(
        "delete",
        (body, ifMatch) ->
            new FileOperation.DeleteFile(
                path(body, "path"), body.flag("recursive", false), ifMatch));
    operations.put("mkdir", (body, _) -> makeDirectory(body));
    operations.put("move", FileBodies::move);
    operations.put("copy", FileBodies::copy);
    return operations;
  }

  static FileOperation list(Query query) {
    return new FileOperation.ListDirectory(
        optionalPath(query),
        query.text("glob"),
        (int) query.integer("depth", 0, 0, MAX_DEPTH),
        (int)
            query.integer(
                "limit", FileOperation.ListDirectory.MOST, 1, FileOperation.ListDirectory.MOST),
        query.text("cursor"));
  }

  static FileOperation read(Query query, FileSettings settings) {
    long wanted = query.integer("max_bytes", settings.maxReadBytes(), 1, Long.MAX_VALUE);
    return new FileOperation.ReadFile(
        path(query),
        query.integer("offset", 0, 0, Long.MAX_VALUE),
        Math.min(wanted, settings.maxReadBytes()));
  }

  static FileOperation search(Query query) {
    return new FileOperation.Search(
        query.requiredText("pattern"),
        optionalPath(query),
        query.text("glob"),
        (int) query.integer("depth", MAX_DEPTH, 0, MAX_DEPTH),
        query.choice("mode", SEARCH_MODES).orElse(FileOperation.SearchMode.CONTENT),
        (int) query.integer("limit", 100, 1, 1000),
        (int) query.integer("before", 0, 0, 20),
        (int) query.integer("after", 0, 0, 20),
        (int) query.integer("max_file_bytes", 1 << 20, 1, MAX_SEARCHED_FILE),
        query.flag("regex", false),
        query.flag("gitignore", false));
  }

  static FileOperation delete(Query query, IfMatch ifMatch) {
    return new FileOperation.DeleteFile(path(query), query.flag("recursive", false), ifMatch);
  }

  static FileOperation write(Fields body, IfMatch ifMatch, IfMatch ifNoneMatch) {
    return new FileOperation.WriteFile(
        path(body, "path"),
        body.text("content"),
        body.choice("encoding", ENCODINGS, "utf-8"),
        body.choice("mode", WRITE_MODES, "overwrite"),
        ifMatch,
        ifNoneMatch);
  }

  static FileOperation edit(Fields body, IfMatch ifMatch) {
    return new FileOperation.EditFile(
        path(body, "path"), body.nonEmptyText("old_string"), body.text("new_string"), ifMatch);
  }

  static FileOperation patch(Fields body, IfMatch ifMatch) {
    return new FileOperation.PatchFile(path(body, "path"), body.text("patch"), ifMatch);
  }

  static FileOperation makeDirectory(Fields body) {
    return new FileOperation.MakeDirectory(path(body, "path"));
  }

  static FileOperation copy(Fields body, IfMatch ifMatch) {
    return new FileOperation.CopyFile(path(body, "source"), path(body, "destination"), ifMatch);
  }

  static FileOperation move(Fields body, IfMatch ifMatch) {
    return new FileOperation.MoveFile(path(body, "source"), path(body, "destination"), ifMatch);
  }

  static FileOperation transaction(Fields body) {
    return new FileOperation.Transaction(
        body.objects("operations", MAX_OPERATIONS).stream().map(FileBodies::operation).toList());
  }

  private static FileOperation operation(Fields body) {
    IfMatch ifMatch = tags(body, "if_match", IfMatch::parse);
    String name = body.text("op");
    var known = body.choice("op", OPERATIONS, name);
    return OPERATIONS.containsKey(name) ? known.apply(body, ifMatch) : REFUSED;
  }

  private static IfMatch tags(Fields body, String name, Function<String, IfMatch> reader) {
    return body.optionalText(name).map(reader).orElse(IfMatch.none());
  }

  private static SentPath path(Fields body, String name) {
    Optional<String> bytes = body.optionalText(name + "_base64");
    return bytes.map(SentPath::ofBase64).orElseGet(() -> SentPath.of(body.nonEmptyText(name)));
  }

  static SentPath path(Query query) {
    return query
        .text("path_base64")
        .map(SentPath::ofBase64)
        .orElseGet(() -> SentPath.of(query.requiredText("path")));
  }

  static SentPath optionalPath(Query query) {
    boolean given = query.text("path").isPresent() || query.text("path_base64").isPresent();
    return given ? path(query) : SentPath.of(".");
  }
}
