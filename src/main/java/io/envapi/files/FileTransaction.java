package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Several operations, all or none. Each is checked first, as if those before it were done, then all
 * new content is stored aside, then all names are changed. Operations that give content may follow
 * each other on one file; otherwise an operation must not touch what another does. Also all or none
 * when the service crashes. Runs under the tree's lock.
 */
final class FileTransaction {

  static final int MOST_OPERATIONS = 100;

  /** What all new content may be together, in bytes: it is held in memory. */
  private static final long MOST_CONTENT = 64L << 20;

  private enum Use {
    CONTENT,
    DIRECTORY,
    ALONE
  }

  private final WorkspaceRoot root;
  private final DiskMeter meter;
  private final UndoLog undo;
  private final FileLimits limits;
  private final FileChanges changes;
  private final Map<List<FileName>, Use> uses = new LinkedHashMap<>();
  private final Map<List<FileName>, FileChange> contents = new LinkedHashMap<>();
  private final Map<List<FileName>, Integer> origins = new HashMap<>();
  private final List<Step> steps = new ArrayList<>();
  private long freed;

  /** The operation at hand. */
  private int index;

  private record Step(int index, Consumer<ChangeSet> change) {}

  private FileTransaction(WorkspaceRoot root, DiskMeter meter, UndoLog undo, FileLimits limits) {
    this.root = root;
    this.meter = meter;
    this.undo = undo;
    this.limits = limits;
    this.changes =
        new FileChanges(root, limits, path -> Optional.ofNullable(contents.get(path.names())));
  }

  static FileAnswer run(
      WorkspaceRoot root,
      DiskMeter meter,
      UndoLog undo,
      FileOperation.Transaction transaction,
      FileLimits limits) {
    List<FileOperation> operations = transaction.operations();
    if (operations.isEmpty() || operations.size() > MOST_OPERATIONS) {
      throw Refusal.invalid(
          "a transaction has 1 to " + MOST_OPERATIONS + " operations", "body", "operations");
    }
    return new FileTransaction(root, meter, undo, limits).run(operations);
  }

  private FileAnswer run(List<FileOperation> operations) {
    List<FileAnswer> answers = new ArrayList<>();
    try {
      for (FileOperation each : operations) {
        answers.add(check(each));
        refuseOver();
        index++;
      }
    } catch (Refusal e) {
      throw named(e);
    } catch (LinuxException e) {
      throw named(Refusal.of(e, SentPath.of(".")));
    }
    long growth = contents.values().stream().mapToLong(FileChange::growth).sum() - freed;
    meter.reserve(growth, limits.maxDiskBytes());
    apply();
    meter.add(growth);
    return new FileAnswer.Transacted(answers);
  }

  private RuntimeException named(RuntimeException e) {
    return e instanceof Refusal refusal
        ? new Refusal(new Failure.InOperation(index, refusal.failure()))
        : e;
  }

  private static FileChange whole(FileChange patched) {
    if (!patched.rejected().isEmpty()) {
      throw Refusal.conflict("hunks that do not apply: " + patched.rejected());
    }
    return patched;
  }

  private void refuseOver() {
    if (contents.values().stream().mapToLong(c -> c.content().length).sum() > MOST_CONTENT) {
      throw new Refusal(
          new Failure.InvalidLimit(
              "the new content is more than " + MOST_CONTENT + " bytes together", MOST_CONTENT));
    }
  }

  private FileAnswer check(FileOperation operation) {
    return switch (operation) {
      case FileOperation.WriteFile write -> content(changes.write(write));
      case FileOperation.EditFile edit -> content(changes.edit(edit));
      case FileOperation.PatchFile patch -> content(whole(changes.patch(patch)));
      case FileOperation.CopyFile copy -> {
        readable(root.path(copy.source(), "body", "source"));
        yield content(changes.copy(copy));
      }
      case FileOperation.MoveFile move -> move(move);
      case FileOperation.MakeDirectory make -> makeDirectory(make);
      case FileOperation.DeleteFile delete -> delete(delete);
      case FileOperation.ListDirectory _,
          FileOperation.ReadFile _,
          FileOperation.Search _,
          FileOperation.Transaction _ ->
          throw Refusal.invalid("the operation changes nothing", "body", "op");
    };
  }

  private FileAnswer content(FileChange change) {
    claim(change.path(), change.isNew() ? Use.ALONE : Use.CONTENT);
    contents.put(change.path().names(), change);
    origins.put(change.path().names(), index);
    return change.answer();
  }

  private FileAnswer move(FileOperation.MoveFile move) {
    WorkspacePath source = root.path(move.source(), "body", "source");
    WorkspacePath target = root.path(move.destination(), "body", "destination");
    claim(source, Use.ALONE);
    claim(target, Use.ALONE);
    FileAnswer.Mutated moved = new FileMoves(root, meter).checkMove(move, source, target, limits);
    steps.add(new Step(index, set -> set.move(source, target)));
    return moved;
  }

  private FileAnswer makeDirectory(FileOperation.MakeDirectory make) {
    WorkspacePath path = root.path(make.path(), "body", "path");
    claim(path, Use.DIRECTORY);
    if (root.find(path).filter(stat -> stat.kind() != FileKind.DIRECTORY).isPresent()) {
      throw Refusal.conflict("the path exists and is no directory");
    }
    // First, since others may put something into it.
    steps.addFirst(new Step(index, set -> set.makeDirectory(path)));
    return new FileAnswer.Made(path.shown());
  }

  private FileAnswer delete(FileOperation.DeleteFile delete) {
    WorkspacePath path = root.path(delete.path(), "body", "path");
    if (path.isRoot()) {
      throw Refusal.invalid("the workspace itself cannot be deleted", "body", "path");
    }
    claim(path, Use.ALONE);
    FileStat stat = new FileMoves(root, meter).checkDelete(delete, path);
    if (stat.kind() == FileKind.DIRECTORY) {
      meter.forget();
    } else {
      freed += DiskMeter.freedBy(stat);
    }
    steps.add(new Step(index, set -> set.remove(path, delete.recursive())));
    return new FileAnswer.Deleted(path.shown());
  }

  private void claim(WorkspacePath path, Use use) {
    Use other = uses.put(path.names(), use);
    if (other != null && (other != use || use == Use.ALONE)) {
      throw clash();
    }
    uses.forEach(
        (names, taken) -> {
          boolean above = isBelow(path.names(), names) && taken != Use.DIRECTORY;
          boolean below = isBelow(names, path.names()) && use != Use.DIRECTORY;
          if (above || below) {
            throw clash();
          }
        });
  }

  private void readable(WorkspacePath path) {
    uses.forEach(
        (names, taken) -> {
          boolean same = names.equals(path.names());
          if (taken == Use.ALONE && (same || isBelow(path.names(), names))) {
            throw clash();
          }
        });
  }

  private static boolean isBelow(List<FileName> path, List<FileName> above) {
    return path.size() > above.size() && path.subList(0, above.size()).equals(above);
  }

  private static Refusal clash() {
    return Refusal.invalid("an earlier operation touches the same path", "body", "path");
  }

  private void apply() {
    List<FileChange> due = contents.values().stream().filter(c -> !c.same()).toList();
    List<TemporaryFile> stored = new ArrayList<>();
    // Closed in the other order: what was taken back is no longer to be undone.
    try (UndoLog.Open log = undo.begin();
        ChangeSet set = new ChangeSet(root, log)) {
      for (FileChange each : due) {
        index = origins.getOrDefault(each.path().names(), 0);
        TemporaryFile file = TemporaryFile.create(root.directory());
        stored.add(file);
        file.fill(each.content(), each.uid(root), each.gid(root), each.mode());
      }
      for (Step step : steps) {
        index = step.index();
        step.change().accept(set);
      }
      for (int i = 0; i < due.size(); i++) {
        FileChange change = due.get(i);
        index = origins.getOrDefault(change.path().names(), 0);
        set.put(stored.get(i).name(), change.path(), change.old().isEmpty());
      }
      set.commit();
      stored.forEach(TemporaryFile::handOver);
      set.settle();
    } catch (Refusal e) {
      throw named(e);
    } catch (LinuxException e) {
      throw named(Refusal.of(e, SentPath.of(".")));
    } finally {
      stored.forEach(TemporaryFile::close);
    }
  }
}
