package io.envapi.http;

import io.envapi.failure.Result;
import io.envapi.files.ArchiveFormat;
import io.envapi.files.SentPath;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TransferStep;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.stream.javadsl.Source;

/** {@code /v1/environments/{id}/files/archive}: a tree as one file. */
final class ArchiveRoutes {

  private static final Map<String, ArchiveFormat> FORMATS =
      new TreeMap<>(Map.of("tar.gz", ArchiveFormat.TAR_GZ, "zip", ArchiveFormat.ZIP));

  private record Wanted(SentPath path, ArchiveFormat format) {}

  private final Environments environments;
  private final Audited audited;

  ArchiveRoutes(Environments environments, Audited audited) {
    this.environments = environments;
    this.audited = audited;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/environments/{environment}/files/archive")
        .get(this::download)
        .put(audited.of("file.write", this::unpack));
  }

  private static Wanted wanted(Query query) {
    return new Wanted(
        FileBodies.optionalPath(query),
        query.choice("format", FORMATS).orElse(ArchiveFormat.TAR_GZ));
  }

  private CompletionStage<Answer> download(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            exchange.query(
                ArchiveRoutes::wanted, wanted -> download(exchange, caller, id, wanted)));
  }

  private CompletionStage<Answer> download(
      Exchange exchange, Caller caller, EnvironmentId id, Wanted wanted) {
    var stream = new FileStream(environments, id);
    return stream
        .open(caller.account(), new TransferStep.OpenArchive(wanted.path(), wanted.format()))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Archive(var transfer, var path)) ->
                      answer(exchange, stream, wanted.format(), transfer, path);
                  case Result.Ok<TransferAnswer>(var other) ->
                      throw RawFileRoutes.unexpected(other);
                });
  }

  private static Answer answer(
      Exchange exchange, FileStream stream, ArchiveFormat format, String transfer, String path) {
    String name = path.equals(".") ? "workspace" : path.substring(path.lastIndexOf('/') + 1);
    var headers = FileHeaders.attachment(name + (format == ArchiveFormat.ZIP ? ".zip" : ".tar.gz"));
    String type = format == ArchiveFormat.ZIP ? "application/zip" : "application/gzip";
    if (exchange.isHead()) {
      stream.close(transfer);
      return new Answer.Bytes(200, type, headers, OptionalLong.empty(), Source.empty());
    }
    return new Answer.Bytes(200, type, headers, OptionalLong.empty(), stream.allBytes(transfer));
  }

  private CompletionStage<Answer> unpack(Exchange exchange, Deed deed) {
    return exchange.environment(
        id -> exchange.query(ArchiveRoutes::wanted, wanted -> unpack(exchange, deed, id, wanted)));
  }

  private CompletionStage<Answer> unpack(
      Exchange exchange, Deed deed, EnvironmentId id, Wanted wanted) {
    var stream = new FileStream(environments, id);
    return stream
        .open(
            deed.account(),
            new TransferStep.OpenUnpack(wanted.path(), wanted.format(), exchange.bodyLength()))
        .thenCompose(
            result ->
                switch (result) {
                  case Result.Ok<TransferAnswer>(TransferAnswer.Writable(var transfer)) ->
                      stream.upload(
                          transfer,
                          exchange.arriving(),
                          exchange.materializer(),
                          _ -> new TransferStep.Unpack(transfer));
                  case Result.Ok<TransferAnswer> _, Result.Refused<TransferAnswer> _ ->
                      java.util.concurrent.CompletableFuture.completedStage(result);
                })
        .thenApply(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Unpacked unpacked) ->
                      unpacked(deed, id, unpacked);
                  case Result.Ok<TransferAnswer>(var other) ->
                      throw RawFileRoutes.unexpected(other);
                });
  }

  private static Answer unpacked(Deed deed, EnvironmentId id, TransferAnswer.Unpacked unpacked) {
    deed.done(
        deed.event(id)
            .with("path", unpacked.path())
            .with("bytes", unpacked.bytes())
            .with("entries", unpacked.entries()));
    return new Answer.Document(
        200,
        Json.object()
            .put("environment_id", id.value())
            .put("path", unpacked.path())
            .put("entries", unpacked.entries())
            .put("bytes", unpacked.bytes()),
        List.of());
  }
}
