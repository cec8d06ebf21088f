package io.envapi.http;

import io.envapi.failure.Result;
import io.envapi.files.SentPath;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TransferStep;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** {@code /v1/environments/{id}/files/raw}: the bytes of a file, of any size, as they are. */
final class RawFileRoutes {

  private static final String BYTES = "application/octet-stream";

  private final Environments environments;
  private final Audited audited;

  RawFileRoutes(Environments environments, Audited audited) {
    this.environments = environments;
    this.audited = audited;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/environments/{environment}/files/raw")
        .get(this::download)
        .put(audited.of("file.write", this::upload));
  }

  private CompletionStage<Answer> download(Exchange exchange, Caller caller) {
    return exchange.environment(
        id -> exchange.query(FileBodies::path, path -> download(exchange, caller, id, path)));
  }

  private CompletionStage<Answer> download(
      Exchange exchange, Caller caller, EnvironmentId id, SentPath path) {
    var stream = new FileStream(environments, id);
    return stream
        .open(
            caller.account(),
            new TransferStep.OpenRead(
                path,
                FileHeaders.ifMatch(exchange),
                FileHeaders.ifNoneMatch(exchange),
                !exchange.isHead()))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Opened file) ->
                      answer(exchange, stream, file);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Unchanged(var etag)) ->
                      new Answer.Bytes(
                          304, BYTES, List.of(FileHeaders.etag(etag)), OptionalLong.of(0), none());
                  case Result.Ok<TransferAnswer>(var other) -> throw unexpected(other);
                });
  }

  private static Answer answer(Exchange exchange, FileStream stream, TransferAnswer.Opened file) {
    var headers = new ArrayList<HttpHeader>();
    headers.add(FileHeaders.etag(file.etag()));
    headers.add(FileHeaders.lastModified(file.modified()));
    headers.add(RawHeader.create("Accept-Ranges", "bytes"));
    headers.addAll(FileHeaders.attachment(file.path().substring(file.path().lastIndexOf('/') + 1)));
    // A range has a meaning for GET alone.
    if (exchange.isHead()) {
      return new Answer.Bytes(200, BYTES, headers, OptionalLong.of(file.size()), none());
    }
    return switch (ByteRange.of(
        exchange.headers("Range"), exchange.headers("If-Range"), file.etag(), file.size())) {
      case ByteRange.Whole() -> bytes(200, headers, stream, file.transfer(), 0, file.size());
      case ByteRange.Part(var first, var last) -> {
        headers.add(
            RawHeader.create(
                "Content-Range", "bytes %d-%d/%d".formatted(first, last, file.size())));
        yield bytes(206, headers, stream, file.transfer(), first, last + 1);
      }
      case ByteRange.Unsatisfiable() -> {
        stream.close(file.transfer());
        yield Problems.http(416, "the file has %d bytes".formatted(file.size()))
            .header("Content-Range", "bytes */" + file.size());
      }
    };
  }

  private static Answer bytes(
      int status,
      List<HttpHeader> headers,
      FileStream stream,
      String transfer,
      long first,
      long end) {
    if (first == end) {
      stream.close(transfer);
      return new Answer.Bytes(status, BYTES, headers, OptionalLong.of(0), none());
    }
    return new Answer.Bytes(
        status, BYTES, headers, OptionalLong.of(end - first), stream.bytes(transfer, first, end));
  }

  private CompletionStage<Answer> upload(Exchange exchange, Deed deed) {
    if (!exchange.headers("Content-Range").isEmpty()) {
      return Problems.http(400, "a part of a file cannot be put").now();
    }
    return exchange.environment(
        id -> exchange.query(FileBodies::path, path -> upload(exchange, deed, id, path)));
  }

  private CompletionStage<Answer> upload(
      Exchange exchange, Deed deed, EnvironmentId id, SentPath path) {
    var stream = new FileStream(environments, id);
    return stream
        .open(
            deed.account(),
            new TransferStep.OpenWrite(
                path,
                FileHeaders.ifMatch(exchange),
                FileHeaders.ifNoneMatch(exchange),
                exchange.bodyLength()))
        .thenCompose(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure).now();
                  case Result.Ok<TransferAnswer>(TransferAnswer.Writable(var transfer)) ->
                      upload(exchange, deed, id, stream, transfer);
                  case Result.Ok<TransferAnswer>(var other) -> throw unexpected(other);
                });
  }

  private CompletionStage<Answer> upload(
      Exchange exchange, Deed deed, EnvironmentId id, FileStream stream, String transfer) {
    return stream
        .upload(
            transfer,
            exchange.arriving(),
            exchange.materializer(),
            _ -> new TransferStep.Commit(transfer))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Stored stored) ->
                      stored(deed, id, stored);
                  case Result.Ok<TransferAnswer>(var other) -> throw unexpected(other);
                });
  }

  private static Answer stored(Deed deed, EnvironmentId id, TransferAnswer.Stored stored) {
    deed.done(deed.event(id).with("path", stored.path()).with("bytes", stored.size()));
    return new Answer.Document(
        stored.created() ? 201 : 200,
        Json.object()
            .put("environment_id", id.value())
            .put("path", stored.path())
            .put("size", stored.size())
            .put("etag", stored.etag()),
        List.of(FileHeaders.etag(stored.etag())));
  }

  private static Source<ByteString, ?> none() {
    return Source.empty();
  }

  static IllegalStateException unexpected(TransferAnswer answer) {
    return new IllegalStateException("not an answer to this: " + answer);
  }
}
