package io.envapi.shell;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.pekko.util.ByteString;

/**
 * An Aho-Corasick automaton (Aho and Corasick 1975). A node stands for the longest end of the input
 * that begins some needle.
 *
 * <p>Children are lists, but for the root's: nearly every node has one child, and a table of 256
 * for each would cost a kilobyte per byte of secret.
 */
final class RedactionAutomaton {

  static final int ROOT = 0;

  private final int[] fromRoot = new int[256];
  private final byte[] label;
  private final int[] firstChild;
  private final int[] nextSibling;
  private final int[] fallback;
  private final int[] depth;
  private final int[] extendable;
  private final int[] matched;
  private final int[] owner;
  private final List<ByteString> marks = new ArrayList<>();
  private int size = 1;

  private RedactionAutomaton(int capacity) {
    label = new byte[capacity];
    firstChild = new int[capacity];
    nextSibling = new int[capacity];
    fallback = new int[capacity];
    depth = new int[capacity];
    extendable = new int[capacity];
    matched = new int[capacity];
    owner = new int[capacity];
  }

  /** From needles and what is shown in place of each. */
  static RedactionAutomaton of(Map<ByteString, ByteString> needles) {
    int capacity = 1 + needles.keySet().stream().mapToInt(ByteString::size).sum();
    var automaton = new RedactionAutomaton(capacity);
    needles.forEach((needle, mark) -> automaton.insert(needle.toArrayUnsafe(), mark));
    automaton.link();
    return automaton;
  }

  /** Overwrites what was in the needles. It finds nothing from now on. */
  void wipe() {
    Arrays.fill(label, (byte) 0);
    Arrays.fill(fromRoot, ROOT);
  }

  /**
   * Where the first byte lies, from {@code at} on, that begins a needle; the length if none does.
   */
  int skip(byte[] input, int at) {
    int i = at;
    while (i < input.length && fromRoot[input[i] & 0xff] == ROOT) {
      i++;
    }
    return i;
  }

  int step(int from, byte next) {
    int node = from;
    while (node != ROOT) {
      int child = child(node, next);
      if (child != ROOT) {
        return child;
      }
      node = fallback[node];
    }
    return fromRoot[next & 0xff];
  }

  /** The length of the longest needle that ends here, or 0. */
  int matched(int node) {
    return matched[node];
  }

  ByteString mark(int node) {
    return marks.get(owner[node]);
  }

  /** The same place in the input without what no needle goes on from. */
  int extendable(int node) {
    return extendable[node];
  }

  /** How many of the last bytes the node stands for. */
  int depth(int node) {
    return depth[node];
  }

  private int child(int node, byte next) {
    if (node == ROOT) {
      return fromRoot[next & 0xff];
    }
    int child = firstChild[node];
    while (child != ROOT && label[child] != next) {
      child = nextSibling[child];
    }
    return child;
  }

  private void insert(byte[] needle, ByteString mark) {
    int node = ROOT;
    for (byte each : needle) {
      int child = child(node, each);
      node = child == ROOT ? append(node, each) : child;
    }
    matched[node] = needle.length;
    owner[node] = marks.size();
    marks.add(mark);
  }

  private int append(int parent, byte each) {
    int child = size++;
    label[child] = each;
    depth[child] = depth[parent] + 1;
    if (parent == ROOT) {
      fromRoot[each & 0xff] = child;
    }
    nextSibling[child] = firstChild[parent];
    firstChild[parent] = child;
    return child;
  }

  /** Breadth first, so that what a node falls back to is complete before the node itself. */
  private void link() {
    int[] queue = new int[size];
    int tail = 1;
    for (int head = 0; head < tail; head++) {
      int node = queue[head];
      for (int child = firstChild[node]; child != ROOT; child = nextSibling[child]) {
        queue[tail++] = child;
        fallback[child] = node == ROOT ? ROOT : step(fallback[node], label[child]);
        int shorter = fallback[child];
        if (matched[child] == 0) {
          matched[child] = matched[shorter];
          owner[child] = owner[shorter];
        }
        extendable[child] = firstChild[child] == ROOT ? extendable[shorter] : child;
      }
    }
  }
}
