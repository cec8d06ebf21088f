package io.envapi.files;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@code .gitignore} files say (gitignore(5)): of the patterns from the top down to an entry's
 * directory the last that matches decides. The top is the innermost directory above the start of
 * the walk that has a {@code .git}, or the workspace.
 */
final class GitIgnore {

  private static final FileName NAME = FileName.of(".gitignore");
  private static final FileName GIT = FileName.of(".git");
  private static final int LARGEST = 256 * 1024;
  private static final int MOST_RULES = 2000;

  private record Rule(Pattern pattern, boolean ignored, boolean directoriesOnly) {}

  private final WorkspaceRoot root;
  private final Map<List<FileName>, List<Rule>> byDirectory = new HashMap<>();

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
    if (directory && path.getLast().equals(GIT)) {
      return true;
    }
    byDirectory.computeIfAbsent(List.copyOf(path.subList(0, path.size() - 1)), _ -> read(in));
    boolean ignored = false;
    for (int i = 0; i < path.size(); i++) {
      List<Rule> rules = byDirectory.getOrDefault(path.subList(0, i), List.of());
      String below = rules.isEmpty() ? "" : ShownName.path(path.subList(i, path.size()));
      for (Rule rule : rules) {
        if ((directory || !rule.directoriesOnly()) && rule.pattern().matches(below)) {
          ignored = rule.ignored();
        }
      }
    }
    return ignored;
  }

  private List<Rule> read(Directory in) {
    try (WorkspaceRoot.Opened opened = root.open(in, NAME).orElse(null)) {
      return opened == null
          ? List.of()
          : rules(new String(ContentScan.readAll(opened.file(), LARGEST), StandardCharsets.UTF_8));
    } catch (LinuxException | Refusal e) {
      // None, or none that can be read.
      return List.of();
    }
  }

  private static List<Rule> rules(String text) {
    List<Rule> rules = new ArrayList<>();
    for (String each : text.split("\r?\n", -1)) {
      String line = each.stripTrailing();
      if (!line.isEmpty() && !line.startsWith("#") && rules.size() < MOST_RULES) {
        add(rules, line);
      }
    }
    return rules;
  }

  private static void add(List<Rule> rules, String line) {
    boolean ignored = !line.startsWith("!");
    String glob = ignored ? line : line.substring(1);
    boolean directoriesOnly = glob.endsWith("/");
    glob = directoriesOnly ? glob.substring(0, glob.length() - 1) : glob;
    boolean anchored = glob.indexOf('/') >= 0;
    glob = glob.startsWith("/") ? glob.substring(1) : glob;
    try {
      String regex = (anchored ? "" : "(?:.*/)?") + regex(glob);
      rules.add(new Rule(Pattern.compile(regex, Pattern.DOTALL), ignored, directoriesOnly));
    } catch (PatternSyntaxException e) {
      // A pattern that is none matches nothing.
      return;
    }
  }

  private static String regex(String glob) {
    var regex = new StringBuilder();
    int at = 0;
    while (at < glob.length()) {
      char c = glob.charAt(at);
      int close = c == '[' ? glob.indexOf(']', at + 2) : -1;
      if (glob.startsWith("**/", at) && (at == 0 || glob.charAt(at - 1) == '/')) {
        regex.append("(?:.*/)?");
        at += 3;
      } else if (glob.startsWith("**", at)) {
        regex.append(".*");
        at += 2;
      } else if (close > 0) {
        String set = glob.substring(at + 1, close).replace("\\", "\\\\").replace("[", "\\[");
        regex.append('[').append(set.startsWith("!") ? "^" + set.substring(1) : set).append(']');
        at = close + 1;
      } else if (c == '\\' && at + 1 < glob.length()) {
        regex.append(Pattern.quote(glob.substring(at + 1, at + 2)));
        at += 2;
      } else {
        regex.append(
            switch (c) {
              case '*' -> "[^/]*";
              case '?' -> "[^/]";
              default -> Pattern.quote(String.valueOf(c));
            });
        at++;
      }
    }
    return regex.toString();
  }
}
