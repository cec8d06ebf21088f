package io.envapi.files;

import io.envapi.failure.Result;
import io.envapi.linux.FileName;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a path leads by its text alone: the names below the workspace, none for its root.
 *
 * @param names what is left when {@code .} and {@code ..} are resolved
 * @param crossed paths that a {@code ..} undid. They must not go through a link either, since the
 *     text then lies about where {@code ..} leads
 * @param sent as the caller wrote it
 */
public record WorkspacePath(List<FileName> names, List<List<FileName>> crossed, SentPath sent) {

  /** The longest path taken, in bytes: 5,000 directories deep with short names. */
  static final int LONGEST = 16 * 1024;

  /** NAME_MAX of every file system that a workspace may be on, limits.h(0p). */
  private static final int LONGEST_NAME = 255;

  /** The most places in one path where {@code ..} undoes names. */
  static final int MOST_CROSSED = 64;

  public WorkspacePath {
    names = List.copyOf(names);
    crossed = List.copyOf(crossed);
  }

  /**
   * Resolves a path by its text.
   *
   * @param inside absolute paths that mean the workspace's root
   * @param location where the request holds the path, for an answer about its form
   */
  public static Result<WorkspacePath> parse(
      SentPath sent, List<String> inside, String... location) {
    try {
      return Result.ok(new Parser(sent, location).parse(inside));
    } catch (Refusal e) {
      return Result.refused(e.failure());
    }
  }

  public boolean isRoot() {
    return names.isEmpty();
  }

  public List<FileName> parent() {
    return names.subList(0, names.size() - 1);
  }

  /** The last name; the root has none. */
  public FileName name() {
    return names.getLast();
  }

  /** As answers show it. */
  public String shown() {
    return ShownName.path(names);
  }

  private static final class Parser {
    private final SentPath sent;
    private final String[] location;
    private final List<FileName> names = new ArrayList<>();
    private final List<List<FileName>> crossed = new ArrayList<>();
    private boolean descending;

    Parser(SentPath sent, String[] location) {
      this.sent = sent;
      this.location = location;
    }

    WorkspacePath parse(List<String> inside) {
      byte[] path = sent.base64() ? decoded() : encoded();
      if (path.length == 0) {
        throw Refusal.invalid("the path is empty", location);
      }
      if (path.length > LONGEST) {
        throw Refusal.invalid("the path is longer than " + LONGEST + " bytes", location);
      }
      int from = path[0] == '/' ? afterRoot(path, inside) : 0;
      while (from <= path.length) {
        int to = end(path, from);
        take(slice(path, from, to));
        from = to + 1;
      }
      return new WorkspacePath(names, crossed, sent);
    }

    private byte[] encoded() {
      try {
        ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(sent.text()));
        byte[] path = new byte[bytes.remaining()];
        bytes.get(path);
        for (int i = 0; i < path.length; i++) {
          path[i] = path[i] == '\\' ? (byte) '/' : path[i];
        }
        return path;
      } catch (CharacterCodingException e) {
        throw Refusal.invalid("the path is not well-formed text", location);
      }
    }

    private byte[] decoded() {
      try {
        return ContentEncoding.fromBase64(sent.text());
      } catch (IllegalArgumentException e) {
        throw Refusal.invalid("the path is not base64", location);
      }
    }

    private void take(byte[] part) {
      for (byte each : part) {
        if (each == 0) {
          throw Refusal.outside(sent);
        }
      }
      if (part.length > LONGEST_NAME) {
        throw Refusal.invalid(
            "a name in the path is longer than " + LONGEST_NAME + " bytes", location);
      }
      if (FileName.isName(part)) {
        names.add(FileName.of(part));
        descending = true;
      } else if (part.length == 2) {
        up();
      }
    }

    private void up() {
      if (names.isEmpty()) {
        throw Refusal.outside(sent);
      }
      if (descending) {
        if (crossed.size() == MOST_CROSSED) {
          throw Refusal.invalid("the path has too many ..", location);
        }
        crossed.add(List.copyOf(names));
        descending = false;
      }
      names.removeLast();
    }

    /** Where the path goes on after the workspace's own absolute path. */
    private int afterRoot(byte[] path, List<String> inside) {
      for (String root : inside) {
        int at = match(path, root.getBytes(StandardCharsets.UTF_8));
        if (at >= 0) {
          return at;
        }
      }
      throw Refusal.outside(sent);
    }

    private static int match(byte[] path, byte[] root) {
      int at = 0;
      int rootAt = 0;
      while (true) {
        rootAt = skipSlashes(root, rootAt);
        if (rootAt == root.length) {
          return at;
        }
        at = skipSlashes(path, at);
        byte[] expected = slice(root, rootAt, end(root, rootAt));
        if (!java.util.Arrays.equals(expected, slice(path, at, end(path, at)))) {
          return -1;
        }
        rootAt += expected.length;
        at += expected.length;
      }
    }

    private static int skipSlashes(byte[] path, int from) {
      int at = from;
      while (at < path.length && path[at] == '/') {
        at++;
      }
      return at;
    }

    private static int end(byte[] path, int from) {
      int to = from;
      while (to < path.length && path[to] != '/') {
        to++;
      }
      return to;
    }

    private static byte[] slice(byte[] path, int from, int to) {
      return java.util.Arrays.copyOfRange(path, Math.min(from, path.length), to);
    }
  }
}
