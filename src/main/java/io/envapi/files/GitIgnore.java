package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What {@code .gitignore} files say (gitignore(5)): of the patterns from the top down to an entry's
 * directory the last that matches decides. The top is the innermost directory above the start of
 * the walk that has a {@code .git}, or the workspace. A file is passed over when it is too large,
 * by itself or together with those above it.
 *
 * <p>For one walk, which is depth first: the rules of a directory are dropped when it is left.
 */
final class GitIgnore {

  private static final FileName NAME = FileName.of(".gitignore");
  private static final FileName GIT = FileName.of(".git");
  private static final int LARGEST = 256 * 1024;

  /**
   * The most of all files from the workspace down to one directory, in bytes: compiled rules take
   * about eighty times as much memory.
   */
  private static final int MOST = 2 * LARGEST;

  /**
   * One directory.
   *
   * @param bytes read for them, which count also where what they say does not
   */
  private record Level(List<GitRule> rules, int bytes) {
    static final Level NONE = new Level(List.of(), 0);
  }

  private final WorkspaceRoot root;

  /** Of the workspace and, in order, of each directory of {@link #present}. */
  private final List<Level> levels = new ArrayList<>();

  private List<FileName> present;

  /**
   * @param start the directory where the walk starts, from the workspace
   */
  GitIgnore(WorkspaceRoot root, List<FileName> start) {
    this.root = root;
    this.present = List.copyOf(start);
    Directory at = root.directory();
    try {
      for (FileName name : start) {
        beginsAgain(at);
        levels.add(read(at));
        Directory next = at.openDirectory(name);
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
      levels.replaceAll(level -> new Level(List.of(), level.bytes()));
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
    enter(in, path.subList(0, path.size() - 1));
    boolean ignored = false;
    for (int i = 0; i < path.size(); i++) {
      List<GitRule> rules = levels.get(i).rules();
      String below = rules.isEmpty() ? "" : path(path.subList(i, path.size()));
      for (GitRule rule : rules) {
        if (rule.matches(below, directory)) {
          ignored = rule.ignored();
        }
      }
    }
    return ignored;
  }

  private void enter(Directory in, List<FileName> directory) {
    if (!directory.equals(present)) {
      int common = common(directory, present);
      levels.subList(Math.min(levels.size(), common + 1), levels.size()).clear();
      present = List.copyOf(directory);
    }
    if (levels.size() == directory.size()) {
      levels.add(read(in));
    }
  }

  private static int common(List<FileName> one, List<FileName> other) {
    int most = Math.min(one.size(), other.size());
    int common = 0;
    while (common < most && one.get(common).equals(other.get(common))) {
      common++;
    }
    return common;
  }

  private Level read(Directory in) {
    int room = MOST - levels.stream().mapToInt(Level::bytes).sum();
    try (WorkspaceRoot.Opened opened = root.open(in, NAME).orElse(null)) {
      if (opened == null) {
        return Level.NONE;
      }
      byte[] content = ContentScan.readAll(opened.file(), Math.min(LARGEST, room));
      return new Level(GitRule.all(latin(content)), content.length);
    } catch (LinuxException | Refusal e) {
      // None, or none that can be read.
      return Level.NONE;
    }
  }

  private static String path(List<FileName> names) {
    return names.stream().map(name -> latin(name.bytes())).collect(Collectors.joining("/"));
  }

  private static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
