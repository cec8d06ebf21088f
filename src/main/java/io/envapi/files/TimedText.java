package io.envapi.files;

/**
 * A text for an expression to be tried on, which an engine that cannot be stopped stops reading.
 */
final class TimedText implements CharSequence {

  /** Characters read between two looks at the deadline. */
  private static final int LOOK = 256;

  private final String text;
  private final Deadline deadline;

  /** Lines may be short, and so the first character is looked at. */
  private int unwatched = LOOK - 1;

  TimedText(String text, Deadline deadline) {
    this.text = text;
    this.deadline = deadline;
  }

  /** What reading throws when there is no time left. */
  static final class TimeIsUp extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private TimeIsUp() {
      super(null, null, false, false);
    }
  }

  @Override
  public char charAt(int index) {
    if (++unwatched == LOOK) {
      unwatched = 0;
      if (deadline.isOver()) {
        throw new TimeIsUp();
      }
    }
    return text.charAt(index);
  }

  @Override
  public int length() {
    return text.length();
  }

  @Override
  public CharSequence subSequence(int start, int end) {
    return text.subSequence(start, end);
  }

  @Override
  public String toString() {
    return text;
  }
}
