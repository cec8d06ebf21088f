package io.envapi.http;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.files.ContentEncoding;
import io.envapi.files.FileAnswer;
import io.envapi.id.EnvironmentId;
import java.io.IOException;
import java.util.List;

/** How the answers about files are written. */
final class FileJson {

  private FileJson() {}

  static Answer answer(EnvironmentId environment, FileAnswer answer) {
    ObjectNode json = Json.object().put("environment_id", environment.value());
    return switch (answer) {
      case FileAnswer.Transacted(var answers) ->
          Answer.ok(json.set("operations", Json.array(answers, FileJson::done)));
      case FileAnswer.Listing listing -> Answer.ok(json.setAll(listing(listing)));
      case FileAnswer.Content content ->
          Answer.tagged(json.setAll(content(content)), content.etag());
      case FileAnswer.Mutated mutated ->
          Answer.tagged(json.setAll(mutated(mutated)), mutated.etag());
      case FileAnswer.Made(var path) -> Answer.ok(json.put("path", path));
      case FileAnswer.Deleted(var path) -> Answer.ok(json.put("path", path));
      case FileAnswer.Found found -> Answer.ok(json.setAll(found(found)));
    };
  }

  private static ObjectNode done(FileAnswer answer) {
    return switch (answer) {
      case FileAnswer.Mutated mutated -> mutated(mutated);
      case FileAnswer.Made(var path) -> Json.object().put("path", path);
      case FileAnswer.Deleted(var path) -> Json.object().put("path", path);
      case FileAnswer.Listing _,
          FileAnswer.Content _,
          FileAnswer.Found _,
          FileAnswer.Transacted _ ->
          throw new IllegalStateException("not the answer to a change");
    };
  }

  private static ObjectNode listing(FileAnswer.Listing listing) {
    ObjectNode json = Json.object().put("path", listing.path());
    json.set("entries", Json.written(listing.entries(), FileJson::entry));
    json.set("next_cursor", Json.text(listing.nextCursor()));
    return json;
  }

  private static void entry(JsonGenerator json, FileAnswer.Entry entry) throws IOException {
    json.writeStartObject();
    json.writeStringField("name", entry.name());
    json.writeStringField("path", entry.path());
    json.writeStringField("kind", kind(entry.kind()));
    json.writeNumberField("size", entry.size());
    json.writeNumberField("mtime", Json.ofMicros(entry.mtimeMicros()));
    json.writeNumberField("mode", entry.mode());
    json.writeNumberField("uid", entry.uid());
    // Null for what is no link.
    json.writeStringField("target", entry.target().orElse(null));
    if (entry.nameBase64().isPresent()) {
      json.writeStringField("name_base64", entry.nameBase64().get());
    }
    json.writeEndObject();
  }

  private static String kind(FileAnswer.EntryKind kind) {
    return switch (kind) {
      case FILE -> "file";
      case DIRECTORY -> "directory";
      case SYMLINK -> "symlink";
      case OTHER -> "other";
    };
  }

  private static ObjectNode content(FileAnswer.Content content) {
    return Json.object()
        .put("path", content.path())
        .put("size", content.size())
        .put("offset", content.offset())
        .put("content", content.content())
        .put("encoding", content.encoding() == ContentEncoding.UTF_8 ? "utf-8" : "base64")
        .put("truncated", content.truncated())
        .put("is_binary", content.binary())
        .put("etag", content.etag())
        .put("next_offset", content.nextOffset());
  }

  private static ObjectNode mutated(FileAnswer.Mutated mutated) {
    ObjectNode json =
        Json.object()
            .put("path", mutated.path())
            .put("size", mutated.size())
            .put("etag", mutated.etag())
            .put("diff", mutated.diff());
    json.set("applied_hunks", numbers(mutated.appliedHunks()));
    json.set("rejected_hunks", numbers(mutated.rejectedHunks()));
    return json;
  }

  private static ObjectNode found(FileAnswer.Found found) {
    ObjectNode json =
        Json.object()
            .put("total_matches", found.totalMatches())
            .put("truncated", found.truncated())
            .put("complete", found.complete());
    json.set("matches", Json.array(found.matches(), FileJson::match));
    json.set("skipped_binary", Json.texts(found.skippedBinary()));
    json.set("skipped_large", Json.texts(found.skippedLarge()));
    json.set("skipped_unavailable", Json.texts(found.skippedUnavailable()));
    return json;
  }

  private static ObjectNode match(FileAnswer.Match match) {
    ObjectNode json = Json.object().put("path", match.path());
    json.set("lines", Json.array(match.lines(), FileJson::line));
    return json;
  }

  private static ObjectNode line(FileAnswer.Line line) {
    return Json.object()
        .put("line", line.line())
        .put("text", line.text())
        .put("matched", line.matched())
        .put("original_chars", line.originalChars());
  }

  private static ArrayNode numbers(List<Integer> values) {
    ArrayNode array = Json.array();
    values.forEach(array::add);
    return array;
  }
}
