package io.envapi.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;

/** The git of this machine over a workspace, with its own files elsewhere and without settings. */
final class RealGit {

  private final Path workspace;
  private final Path own;

  /**
   * The test is skipped where there is none.
   *
   * @param own where git keeps its own files, of one workspace or of several in turn
   */
  RealGit(Path workspace, Path own) throws Exception {
    this.workspace = workspace;
    this.own = own;
    Assumptions.assumeTrue(isInstalled(), "not installed: git");
    if (Files.notExists(own.resolve("HEAD"))) {
      run("init", "-q");
    }
  }

  private static boolean isInstalled() throws InterruptedException {
    try {
      return new ProcessBuilder("git", "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** The files that are not ignored, without the .gitignore files themselves. */
  Set<String> kept() throws Exception {
    Set<String> kept = new TreeSet<>();
    for (String each : run("ls-files", "-z", "-o", "--exclude-standard").split("\0")) {
      if (!each.isEmpty() && !each.endsWith(".gitignore")) {
        kept.add(each);
      }
    }
    return kept;
  }

  private String run(String... arguments) throws Exception {
    ProcessBuilder git = new ProcessBuilder("git").directory(workspace.toFile());
    git.command().addAll(List.of(arguments));
    git.environment().put("GIT_DIR", own.toString());
    git.environment().put("GIT_WORK_TREE", workspace.toString());
    git.environment().put("GIT_CONFIG_NOSYSTEM", "1");
    git.environment().put("HOME", own.toString());
    git.environment().put("XDG_CONFIG_HOME", own.toString());
    Process process = git.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError("git " + String.join(" ", arguments) + " failed");
    }
    return output;
  }
}
