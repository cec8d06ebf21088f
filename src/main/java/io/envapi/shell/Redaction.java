package io.envapi.shell;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.pekko.util.ByteString;

/**
 * Takes secrets out of a shell's output: every occurrence becomes {@code «redacted:<service>»},
 * across any division into chunks, in time linear in the output.
 *
 * <p>Occurrences that overlap become one mark, so that the rest of one secret never shows beside
 * another; it names the service of the leftmost, and of those the longest. Besides a secret itself
 * its common encodings are looked for ({@link RedactionNeedles}). Held back is only what may still
 * become an occurrence, until it does, does not, or {@link #flush} is called.
 *
 * <p>A secret added stays until {@link #end}: a background job can print it long after its command.
 * Without secrets chunks pass through as they are. Safe for use by several threads.
 */
public final class Redaction {

  /** Anything shorter would redact half of everything. */
  static final int MIN_SECRET_CHARS = 4;

  private static final byte[] NOTHING = new byte[0];

  /**
   * Bytes from {@code start} to {@code end} (inclusive) of the window that are no longer to be
   * shown.
   */
  private record Covered(int start, int end, ByteString mark) {}

  private final Map<ByteString, ByteString> needles = new LinkedHashMap<>();
  private RedactionAutomaton automaton = RedactionAutomaton.of(Map.of());
  private boolean outdated;
  private boolean ended;

  // The window: what came in and could still be part of an occurrence. Its first bytes may have
  // gone
  // out already, as the end of a mark.
  private byte[] window = NOTHING;
  private int shown;
  private int node;
  private final ArrayDeque<Covered> pending = new ArrayDeque<>();

  /**
   * From the next chunk on, and in what is held back, {@code secret} is redacted. A value of under
   * 4 characters is ignored; one that two services share is marked as the first one's. The array
   * stays the caller's, who may overwrite it.
   */
  public synchronized void add(String service, byte[] secret) {
    if (ended
        || characters(secret) < MIN_SECRET_CHARS
        || needles.containsKey(ByteString.fromArray(secret))) {
      return;
    }
    ByteString mark = ByteString.fromString("«redacted:" + service + "»", StandardCharsets.UTF_8);
    for (byte[] needle : RedactionNeedles.of(secret)) {
      needles.putIfAbsent(ByteString.fromArray(needle), mark);
    }
    // The secret as it is outranks what was only an encoding of another.
    needles.put(ByteString.fromArray(secret), mark);
    outdated = true;
  }

  private static int characters(byte[] utf8) {
    int characters = 0;
    for (byte each : utf8) {
      boolean continues = (each & 0xC0) == 0x80;
      characters += continues ? 0 : 1;
    }
    return characters;
  }

  /** What can be shown now that {@code chunk} has come. */
  public synchronized ByteString feed(ByteString chunk) {
    if (ended && !chunk.isEmpty()) {
      throw new IllegalStateException("nothing can be redacted any more");
    }
    if (needles.isEmpty() || chunk.isEmpty()) {
      return chunk;
    }
    if (outdated) {
      automaton = RedactionAutomaton.of(needles);
      outdated = false;
      return rescan(chunk);
    }
    return scan(chunk, window.length);
  }

  /** Ends the wait for the rest of an occurrence: shows what is held back. */
  public synchronized ByteString flush() {
    if (window.length == 0) {
      return ByteString.emptyByteString();
    }
    ByteString decided = ByteString.emptyByteString();
    if (outdated) {
      automaton = RedactionAutomaton.of(needles);
      outdated = false;
      decided = rescan(ByteString.emptyByteString());
    }
    var out = new ByteArrayOutputStream(window.length);
    release(window, window.length, out);
    window = NOTHING;
    shown = 0;
    node = RedactionAutomaton.ROOT;
    return decided.concat(ByteString.fromArrayUnsafe(out.toByteArray()));
  }

  /** After the last {@link #flush}: overwrites the secrets. Nothing can be fed from now on. */
  public synchronized void end() {
    ended = true;
    needles.keySet().forEach(needle -> Arrays.fill(needle.toArrayUnsafe(), (byte) 0));
    needles.clear();
    automaton.wipe();
    automaton = RedactionAutomaton.of(Map.of());
  }

  /** The state of another automaton means nothing in this one: read the window again. */
  private ByteString rescan(ByteString chunk) {
    node = RedactionAutomaton.ROOT;
    pending.clear();
    return scan(chunk, 0);
  }

  private ByteString scan(ByteString chunk, int from) {
    byte[] input = joined(chunk);
    var out = new ByteArrayOutputStream(0);
    boolean untouched = window.length == 0;
    int at = from;
    while (at < input.length) {
      if (node == RedactionAutomaton.ROOT && pending.isEmpty()) {
        at = automaton.skip(input, at);
        if (at == input.length) {
          break;
        }
      }
      int reached = automaton.step(node, input[at]);
      int length = automaton.matched(reached);
      if (length > 0) {
        cover(at - length + 1, at, automaton.mark(reached));
      }
      node = automaton.extendable(reached);
      at++;
      if (!pending.isEmpty() && pending.getFirst().start() < at - automaton.depth(node)) {
        untouched = false;
        release(input, at - automaton.depth(node), out);
      }
    }
    int open = input.length - automaton.depth(node);
    if (untouched && shown == 0) {
      window = open == input.length ? NOTHING : Arrays.copyOfRange(input, open, input.length);
      shift(open);
      return open == input.length ? chunk : chunk.take(open);
    }
    release(input, open, out);
    window = Arrays.copyOfRange(input, open, input.length);
    shown = Math.max(0, shown - open);
    shift(open);
    return ByteString.fromArrayUnsafe(out.toByteArray());
  }

  private byte[] joined(ByteString chunk) {
    if (window.length == 0) {
      return chunk.toArrayUnsafe();
    }
    byte[] input = Arrays.copyOf(window, window.length + chunk.size());
    chunk.copyToArray(input, window.length);
    return input;
  }

  /** An occurrence; it ends later than any before it. */
  private void cover(int start, int end, ByteString mark) {
    if (start < shown) {
      // It begins inside a mark that is out: that mark stands for all of it.
      pending.clear();
      shown = Math.max(shown, end + 1);
      return;
    }
    var covered = new Covered(start, end, mark);
    while (!pending.isEmpty() && pending.getLast().end() >= start) {
      Covered before = pending.removeLast();
      if (before.start() < covered.start()) {
        covered = new Covered(before.start(), end, before.mark());
      }
    }
    pending.addLast(covered);
  }

  /**
   * Shows everything before {@code open}, the first byte an occurrence to come can begin at. A mark
   * that begins before it is shown whole, since none can begin further left any more.
   */
  private void release(byte[] input, int open, ByteArrayOutputStream out) {
    while (!pending.isEmpty() && pending.getFirst().start() < open) {
      Covered covered = pending.removeFirst();
      out.write(input, shown, covered.start() - shown);
      out.writeBytes(covered.mark().toArrayUnsafe());
      shown = covered.end() + 1;
    }
    if (shown < open) {
      out.write(input, shown, open - shown);
      shown = open;
    }
  }

  /** Positions are relative to the window, which now begins {@code by} bytes later. */
  private void shift(int by) {
    for (int i = pending.size(); i > 0; i--) {
      Covered covered = pending.removeFirst();
      pending.addLast(new Covered(covered.start() - by, covered.end() - by, covered.mark()));
    }
  }
}
