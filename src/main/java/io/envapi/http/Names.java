package io.envapi.http;

import java.util.regex.Pattern;

/** The forms of names and of other short texts in requests. */
enum Names {
  ENVIRONMENT("[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}"),
  LABEL("[A-Za-z0-9_.:/-]{1,64}"),
  /** Of a profile, and of a credential's service. */
  PROFILE("[a-z0-9][a-z0-9_-]{0,63}"),
  VARIABLE("[A-Za-z_][A-Za-z0-9_]*"),
  NOT_EMPTY("(?s).+", "must not be empty"),
  /** What an environment variable can hold. */
  NO_NUL("[^\\x00]*", "must not contain NUL"),
  ANY("(?s).*", "");

  private final Pattern pattern;
  private final String wanted;

  Names(String pattern) {
    this(pattern, "must match ^" + pattern + "$");
  }

  Names(String pattern, String wanted) {
    this.pattern = Pattern.compile(pattern);
    this.wanted = wanted;
  }

  boolean matches(String text) {
    return pattern.matcher(text).matches();
  }

  /** What the caller has to do, as a sentence without its subject. */
  String wanted() {
    return wanted;
  }
}
