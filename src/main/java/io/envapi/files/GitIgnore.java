package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What {@code .gitignore} files say (gitignore(5)): of the patterns from the top down to an entry's
 * directory the last that matches decides. The top is the innermost directory above the start of
 * the walk that has a {@code .git}, or the workspace.
 *
 * <p>Asked in the order of a walk that goes depth first: what was read of directories that the walk
 * has left is dropped.
 */
final class GitIgnore {

  private static final FileName NAME = FileName.of(".gitignore");
  private static final FileName GIT = FileName.of(".git");
  private static final int LARGEST = 256 * 1024;

  /** Of all files that count at once, in bytes: compiled they take 80 times as much. */
  private static final int MOST = 512 * 1024;

  /** One file's. */
  private record Rules(List<GitRule> rules, int bytes) {
    static final Rules NONE = new Rules(List.of(), 0);
  }

  private final WorkspaceRoot root;
  private final Map<List<FileName>, Rules> byDirectory = new HashMap<>();

  /**
   * @param start the directory where the walk starts, from the workspace
   */
  GitIgnore(WorkspaceRoot root, List<FileName> start) {
    this.root = root;
    Directory at = root.directory();
    try {
      for (int i = 0; i < start.size(); i++) {
        beginsAgain(at);
        byDirectory.put(List.copyOf(start.subList(0, i)), read(at));
        Directory next = at.openDirectory(start.get(i));
        leave(at);
        at = next;
      }
      beginsAgain(at);
    } finally {
      leave(at);
    }
  }

  private void leave(Directory directory) {
    if (directory != root.directory()) {
      directory.close();
    }
  }

  /** In a repository nothing counts that was said above it. */
  private void beginsAgain(Directory directory) {
    try {
      directory.stat(GIT);
      byDirectory.clear();
    } catch (LinuxException e) {
      // It is none.
      return;
    }
  }

  /**
   * @param in the directory of the entry
   * @param path the entry's, from the workspace
   */
  boolean ignores(Directory in, List<FileName> path, boolean directory) {
    if (path.getLast().equals(GIT)) {
      return true;
    }
    List<FileName> parent = List.copyOf(path.subList(0, path.size() - 1));
    if (!byDirectory.containsKey(parent)) {
      byDirectory.keySet().removeIf(each -> !isAbove(each, parent));
      byDirectory.put(parent, read(in));
    }
    boolean ignored = false;
    for (int i = 0; i < path.size(); i++) {
      List<GitRule> rules = byDirectory.getOrDefault(path.subList(0, i), Rules.NONE).rules();
      String below = rules.isEmpty() ? "" : path(path.subList(i, path.size()));
      for (GitRule rule : rules) {
        if (rule.matches(below, directory)) {
          ignored = rule.ignored();
        }
      }
    }
    return ignored;
  }

  private static boolean isAbove(List<FileName> directory, List<FileName> path) {
    return directory.size() < path.size() && directory.equals(path.subList(0, directory.size()));
  }

  private Rules read(Directory in) {
    int room = MOST - byDirectory.values().stream().mapToInt(Rules::bytes).sum();
    try (WorkspaceRoot.Opened opened = root.open(in, NAME).orElse(null)) {
      if (opened == null) {
        return Rules.NONE;
      }
      byte[] text = ContentScan.readAll(opened.file(), Math.min(LARGEST, room));
      return new Rules(GitRule.all(latin(text)), text.length);
    } catch (LinuxException | Refusal e) {
      // None, or none that can be read.
      return Rules.NONE;
    }
  }

  private static String path(List<FileName> names) {
    return names.stream().map(name -> latin(name.bytes())).collect(Collectors.joining("/"));
  }

  private static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
