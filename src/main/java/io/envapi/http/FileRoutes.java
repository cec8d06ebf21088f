package io.envapi.http;

import io.envapi.audit.AuditEvent;
import io.envapi.environment.Environment;
import io.envapi.files.FileAnswer;
import io.envapi.files.FileOperation;
import io.envapi.files.FileSettings;
import io.envapi.files.IfMatch;
import io.envapi.host.Environments;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** {@code /v1/environments/{id}/files}: the files of a workspace. */
final class FileRoutes {

  private static final String WRITE = "file.write";
  private static final String MAKE_DIRECTORY = "file.mkdir";
  private static final String DELETE = "file.delete";
  private static final String TRANSACTION = "file.transaction";

  /** For a search or a listing of a large workspace. */
  private static final Duration DISK_WORK = Duration.ofSeconds(60);

  private final Environments environments;
  private final Audited audited;
  private final FileSettings settings;

  FileRoutes(Environments environments, Audited audited, FileSettings settings) {
    this.environments = environments;
    this.audited = audited;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/environments/{environment}/files").get(this::list);
    routes
        .on("/v1/environments/{environment}/files/content")
        .get(this::read)
        .put(audited.of(WRITE, this::write))
        .delete(audited.of(DELETE, this::delete));
    routes.on("/v1/environments/{environment}/files/edit").post(audited.of(WRITE, this::edit));
    routes.on("/v1/environments/{environment}/files/patch").post(audited.of(WRITE, this::patch));
    routes
        .on("/v1/environments/{environment}/files/directories")
        .add("POST", new RouteTable.Repeatable(audited.of(MAKE_DIRECTORY, this::makeDirectory)));
    routes.on("/v1/environments/{environment}/files/copy").post(audited.of(WRITE, this::copy));
    routes.on("/v1/environments/{environment}/files/move").post(audited.of(WRITE, this::move));
    routes.on("/v1/environments/{environment}/files/search").get(this::search);
    routes
        .on("/v1/environments/{environment}/files/transaction")
        .post(audited.of(TRANSACTION, this::transaction));
  }

  private CompletionStage<Answer> list(Exchange exchange, Caller caller) {
    return looked(exchange, caller, FileBodies::list);
  }

  private CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return looked(exchange, caller, query -> FileBodies.read(query, settings));
  }

  private CompletionStage<Answer> search(Exchange exchange, Caller caller) {
    return looked(exchange, caller, FileBodies::search);
  }

  private CompletionStage<Answer> delete(Exchange exchange, Deed deed) {
    IfMatch ifMatch = FileHeaders.ifMatch(exchange);
    return exchange.environment(
        id ->
            exchange.query(
                query -> FileBodies.delete(query, ifMatch),
                operation -> change(deed, id, operation)));
  }

  private CompletionStage<Answer> write(Exchange exchange, Deed deed) {
    IfMatch ifNoneMatch = FileHeaders.ifNoneMatch(exchange);
    return sent(exchange, deed, (body, ifMatch) -> FileBodies.write(body, ifMatch, ifNoneMatch));
  }

  private CompletionStage<Answer> edit(Exchange exchange, Deed deed) {
    return sent(exchange, deed, FileBodies::edit);
  }

  private CompletionStage<Answer> patch(Exchange exchange, Deed deed) {
    return sent(exchange, deed, FileBodies::patch);
  }

  private CompletionStage<Answer> makeDirectory(Exchange exchange, Deed deed) {
    return sent(exchange, deed, (body, _) -> FileBodies.makeDirectory(body));
  }

  private CompletionStage<Answer> copy(Exchange exchange, Deed deed) {
    return sent(exchange, deed, FileBodies::copy);
  }

  private CompletionStage<Answer> move(Exchange exchange, Deed deed) {
    return sent(exchange, deed, FileBodies::move);
  }

  private CompletionStage<Answer> transaction(Exchange exchange, Deed deed) {
    return sent(exchange, deed, (body, _) -> FileBodies.transaction(body));
  }

  /** What the query asks for, which changes nothing. */
  private CompletionStage<Answer> looked(
      Exchange exchange, Caller caller, Function<Query, FileOperation> reader) {
    return exchange.environment(
        id ->
            exchange.query(
                reader, operation -> run(caller.account(), id, operation, answer -> {})));
  }

  /** What the body asks for. */
  private CompletionStage<Answer> sent(
      Exchange exchange, Deed deed, BiFunction<Fields, IfMatch, FileOperation> reader) {
    IfMatch ifMatch = FileHeaders.ifMatch(exchange);
    return exchange.environment(
        id ->
            exchange.body(
                body -> reader.apply(body, ifMatch), operation -> change(deed, id, operation)));
  }

  private CompletionStage<Answer> change(Deed deed, EnvironmentId id, FileOperation operation) {
    return run(deed.account(), id, operation, answer -> tell(deed, id, operation, answer));
  }

  private CompletionStage<Answer> run(
      AccountId account, EnvironmentId id, FileOperation operation, Consumer<FileAnswer> done) {
    return environments
        .<Environment.FileReply>environment(
            account,
            id,
            DISK_WORK,
            (place, replyTo) -> new Environment.RunFile(operation, place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.FileDone(var answer) -> {
                    done.accept(answer);
                    yield FileJson.answer(id, answer);
                  }
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }

  private static void tell(
      Deed deed, EnvironmentId id, FileOperation operation, FileAnswer answer) {
    switch (answer) {
      case FileAnswer.Mutated mutated ->
          deed.done(event(deed, WRITE, id, mutated.path()).with("bytes", mutated.size()));
      case FileAnswer.Made(var path) -> deed.done(event(deed, MAKE_DIRECTORY, id, path));
      case FileAnswer.Deleted(var path) ->
          deed.done(
              event(deed, DELETE, id, path)
                  .with(
                      "recursive",
                      operation instanceof FileOperation.DeleteFile delete && delete.recursive()));
      case FileAnswer.Transacted(var answers) -> {
        deed.done(
            deed.event(id).with("operations", answers.size()).with("changes", changes(answers)));
      }
      case FileAnswer.Listing _, FileAnswer.Content _, FileAnswer.Found _ -> {}
    }
  }

  /** What was removed comes first: of many not all are kept. */
  private static List<String> changes(List<FileAnswer> answers) {
    var removed = new ArrayList<String>();
    var rest = new ArrayList<String>();
    for (FileAnswer answer : answers) {
      switch (answer) {
        case FileAnswer.Deleted(var path) -> removed.add(DELETE + " " + path);
        case FileAnswer.Mutated mutated -> rest.add(WRITE + " " + mutated.path());
        case FileAnswer.Made(var path) -> rest.add(MAKE_DIRECTORY + " " + path);
        case FileAnswer.Transacted _,
            FileAnswer.Listing _,
            FileAnswer.Content _,
            FileAnswer.Found _ -> {}
      }
    }
    removed.addAll(rest);
    return removed;
  }

  private static AuditEvent event(Deed deed, String action, EnvironmentId id, String path) {
    return deed.event(action).with("environment_id", id.value()).with("path", path);
  }
}
