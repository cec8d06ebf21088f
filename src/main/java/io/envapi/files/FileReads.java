package io.envapi.files;

import io.envapi.linux.FileStat;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/** Reading a window of a file. */
final class FileReads {

  private static final int LARGEST_WINDOW = 1 << 28;

  private final WorkspaceRoot root;
  private final ScanCache scans = new ScanCache(Clock.systemUTC());

  FileReads(WorkspaceRoot root) {
    this.root = root;
  }

  FileAnswer.Content read(FileOperation.ReadFile operation, FileLimits limits) {
    if (operation.offset() < 0) {
      throw Refusal.invalid("offset must not be negative", "query", "offset");
    }
    if (operation.maxBytes() < 1) {
      throw Refusal.invalid("max_bytes must be at least 1", "query", "max_bytes");
    }
    WorkspacePath path = root.path(operation.path(), "query", "path");
    long most = Math.min(Math.min(operation.maxBytes(), limits.maxReadBytes()), LARGEST_WINDOW);
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      // One byte more, to see whether the window ends inside a character.
      ContentScan.Window window = new ContentScan.Window(operation.offset(), (int) most + 1);
      ContentScan.Scanned scanned = scan(opened, window);
      return answer(path.shown(), operation.offset(), (int) most, scanned, window.bytes());
    }
  }

  private ContentScan.Scanned scan(WorkspaceRoot.Opened opened, ContentScan.Window window) {
    FileStat before = opened.stat();
    Optional<ScanCache.Known> known = scans.find(before);
    if (known.isPresent()) {
      window.fill(opened.file(), before.size());
      if (opened.file().stat().equals(before)) {
        return new ContentScan.Scanned(before.size(), known.get().etag(), known.get().text());
      }
      window.clear();
    }
    ContentScan.Scanned scanned = ContentScan.scan(opened.file(), window);
    scans.put(before, opened.file().stat(), scanned);
    return scanned;
  }

  private static FileAnswer.Content answer(
      String path, long offset, int most, ContentScan.Scanned scanned, byte[] window) {
    int length = scanned.text() ? wholeCharacters(window, most) : Math.min(window.length, most);
    long next = offset + length;
    String content =
        scanned.text()
            ? new String(window, 0, length, StandardCharsets.UTF_8)
            : Base64.getEncoder().encodeToString(Arrays.copyOf(window, length));
    return new FileAnswer.Content(
        path,
        scanned.size(),
        offset,
        content,
        scanned.text() ? ContentEncoding.UTF_8 : ContentEncoding.BASE64,
        next < scanned.size(),
        !scanned.text(),
        scanned.etag(),
        next);
  }

  private static int wholeCharacters(byte[] window, int most) {
    if (window.length == 0) {
      return 0;
    }
    if (Utf8Scan.isContinuation(window[0])) {
      throw Refusal.invalid("offset is inside a character", "query", "offset");
    }
    if (window.length <= most) {
      return window.length;
    }
    int end = most;
    while (Utf8Scan.isContinuation(window[end])) {
      end--;
    }
    if (end == 0) {
      throw Refusal.invalid("max_bytes is too small for one character", "query", "max_bytes");
    }
    return end;
  }
}
