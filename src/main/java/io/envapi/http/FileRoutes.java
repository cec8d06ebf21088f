package io.envapi.http;

import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditLog;
import io.envapi.environment.Environment;
import io.envapi.files.FileAnswer;
import io.envapi.files.FileOperation;
import io.envapi.files.FileSettings;
import io.envapi.files.IfMatch;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

/** {@code /v1/environments/{id}/files}: the files of a workspace. */
final class FileRoutes {

  /** For a search or a listing of a large workspace. */
  private static final Duration DISK_WORK = Duration.ofSeconds(60);

  private final Environments environments;
  private final AuditLog audit;
  private final FileSettings settings;

  FileRoutes(Environments environments, AuditLog audit, FileSettings settings) {
    this.environments = environments;
    this.audit = audit;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/environments/{environment}/files").get(this::list);
    routes
        .on("/v1/environments/{environment}/files/content")
        .get(this::read)
        .put(this::write)
        .delete(this::delete);
    routes.on("/v1/environments/{environment}/files/edit").post(this::edit);
    routes.on("/v1/environments/{environment}/files/patch").post(this::patch);
    routes
        .on("/v1/environments/{environment}/files/directories")
        .add("POST", new RouteTable.Repeatable(this::makeDirectory));
    routes.on("/v1/environments/{environment}/files/copy").post(this::copy);
    routes.on("/v1/environments/{environment}/files/move").post(this::move);
    routes.on("/v1/environments/{environment}/files/search").get(this::search);
    routes.on("/v1/environments/{environment}/files/transaction").post(this::transaction);
  }

  private CompletionStage<Answer> list(Exchange exchange, Caller caller) {
    return asked(exchange, caller, (query, _) -> FileBodies.list(query));
  }

  private CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return asked(exchange, caller, (query, _) -> FileBodies.read(query, settings));
  }

  private CompletionStage<Answer> search(Exchange exchange, Caller caller) {
    return asked(exchange, caller, (query, _) -> FileBodies.search(query));
  }

  private CompletionStage<Answer> delete(Exchange exchange, Caller caller) {
    return asked(exchange, caller, FileBodies::delete);
  }

  private CompletionStage<Answer> write(Exchange exchange, Caller caller) {
    return sent(exchange, caller, FileBodies::write);
  }

  private CompletionStage<Answer> edit(Exchange exchange, Caller caller) {
    return sent(exchange, caller, FileBodies::edit);
  }

  private CompletionStage<Answer> patch(Exchange exchange, Caller caller) {
    return sent(exchange, caller, FileBodies::patch);
  }

  private CompletionStage<Answer> makeDirectory(Exchange exchange, Caller caller) {
    return sent(exchange, caller, (body, _) -> FileBodies.makeDirectory(body));
  }

  private CompletionStage<Answer> copy(Exchange exchange, Caller caller) {
    return sent(exchange, caller, FileBodies::copy);
  }

  private CompletionStage<Answer> move(Exchange exchange, Caller caller) {
    return sent(exchange, caller, FileBodies::move);
  }

  private CompletionStage<Answer> transaction(Exchange exchange, Caller caller) {
    return sent(exchange, caller, (body, _) -> FileBodies.transaction(body));
  }

  /** What the query asks for. */
  private CompletionStage<Answer> asked(
      Exchange exchange, Caller caller, BiFunction<Query, IfMatch, FileOperation> reader) {
    IfMatch ifMatch = FileHeaders.ifMatch(exchange);
    return exchange.environment(
        id ->
            exchange.query(
                query -> reader.apply(query, ifMatch), operation -> run(caller, id, operation)));
  }

  /** What the body asks for. */
  private CompletionStage<Answer> sent(
      Exchange exchange, Caller caller, BiFunction<Fields, IfMatch, FileOperation> reader) {
    IfMatch ifMatch = FileHeaders.ifMatch(exchange);
    return exchange.environment(
        id ->
            exchange.body(
                body -> reader.apply(body, ifMatch), operation -> run(caller, id, operation)));
  }

  private CompletionStage<Answer> run(Caller caller, EnvironmentId id, FileOperation operation) {
    return environments
        .<Environment.FileReply>environment(
            caller.account(),
            id,
            DISK_WORK,
            (place, replyTo) -> new Environment.RunFile(operation, place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.FileDone(var answer) -> {
                    record(caller, id, operation, answer);
                    yield FileJson.answer(id, answer);
                  }
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }

  private void record(Caller caller, EnvironmentId id, FileOperation operation, FileAnswer answer) {
    switch (answer) {
      case FileAnswer.Mutated mutated ->
          audit.record(
              event("file.write", caller, id)
                  .with("path", mutated.path())
                  .with("bytes", mutated.size()));
      case FileAnswer.Made(var path) ->
          audit.record(event("file.mkdir", caller, id).with("path", path));
      case FileAnswer.Deleted(var path) ->
          audit.record(
              event("file.delete", caller, id)
                  .with("path", path)
                  .with(
                      "recursive",
                      operation instanceof FileOperation.DeleteFile delete && delete.recursive()));
      case FileAnswer.Transacted(var answers) -> {
        if (operation instanceof FileOperation.Transaction(var operations)) {
          for (int i = 0; i < answers.size(); i++) {
            record(caller, id, operations.get(i), answers.get(i));
          }
        }
      }
      case FileAnswer.Listing _, FileAnswer.Content _, FileAnswer.Found _ -> {}
    }
  }

  private static AuditEvent event(String action, Caller caller, EnvironmentId id) {
    return AuditEvent.of(action, caller.account()).with("environment_id", id.value());
  }
}
