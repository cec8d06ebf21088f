package io.envapi.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.failure.Failure;
import io.envapi.files.ContentEncoding;
import io.envapi.shell.TerminalSize;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.pekko.util.ByteString;

/** What callers send to open and use shells. */
final class ShellBodies {

  static final int MAX_COMMAND_BYTES = 1 << 20;

  private static final long MAX_WAIT_MS = 600_000;
  private static final long DAY_MS = 86_400_000;
  private static final int MAX_ROWS = 1000;

  private static final Map<String, Boolean> BASE64 = Map.of("utf-8", false, "base64", true);
  private static final Map<String, Boolean> TTY = Map.of("stdin", false, "tty", true);

  /** What execve(2) takes as one string (MAX_ARG_STRLEN), without the NUL behind it. */
  private static final int MAX_VARIABLE_BYTES = 128 * 1024 - 1;

  private static final int MAX_VARIABLES_BYTES = 1 << 20;
  private static final int MAX_VARIABLES = 4096;

  private static final Map<String, Boolean> TAIL = Map.of("head", false, "tail", true);

  record Open(String cwd, Map<String, String> environment, Optional<TerminalSize> terminal) {

    static Open read(Fields body) {
      boolean pty = body.flag("pty", false);
      TerminalSize size = size(body, TerminalSize.DEFAULT);
      String cwd = body.text("cwd", ".");
      if (cwd.indexOf('\0') >= 0) {
        body.refuse(new Failure.PathOutsideWorkspace(cwd));
      }
      return new Open(cwd, variables(body), pty ? Optional.of(size) : Optional.empty());
    }
  }

  /** With more the shell would start, and no program in it. */
  private static Map<String, String> variables(Fields body) {
    Map<String, String> variables =
        body.textMap("env", Names.VARIABLE, Names.NO_NUL, MAX_VARIABLES);
    long all = 0;
    for (Map.Entry<String, String> each : variables.entrySet()) {
      String text = each.getKey() + "=" + each.getValue();
      int bytes = text.getBytes(StandardCharsets.UTF_8).length;
      all += bytes;
      if (bytes > MAX_VARIABLE_BYTES) {
        body.fault("env", each.getKey() + " is over 128 KiB with its name", "string_too_long");
      }
    }
    if (all > MAX_VARIABLES_BYTES) {
      body.fault("env", "is over 1 MiB in all", "string_too_long");
    }
    return variables;
  }

  record Exec(String command, long waitMs, Optional<Long> timeoutMs) {

    static Exec read(Fields body) {
      return new Exec(
          commandText(body),
          body.integer("wait_ms", 0, 0, MAX_WAIT_MS),
          body.nullableInteger("timeout_ms", 1, DAY_MS));
    }

    /** Without the command. */
    @Override
    public String toString() {
      return "Exec[waitMs=" + waitMs + ", timeoutMs=" + timeoutMs + "]";
    }
  }

  record Once(
      String environment,
      String command,
      long timeoutMs,
      Open shell,
      ByteString stdin,
      int maxOutputBytes,
      boolean tail) {

    static Once read(Fields body) {
      return new Once(
          body.text("environment_id"),
          commandText(body),
          body.integer("timeout_ms", 60_000, 1, MAX_WAIT_MS),
          Open.read(body),
          bytes(
              body,
              "stdin",
              body.text("stdin", ""),
              body.choice("stdin_encoding", BASE64, "utf-8")),
          (int) body.integer("max_output_bytes", 262_144, 1, 8_388_608),
          body.choice("output_window", TAIL, "head"));
    }

    /** Without the command and its input. */
    @Override
    public String toString() {
      return "Once[" + environment + "]";
    }
  }

  record Stdin(ByteString data, boolean tty, OptionalLong offset, boolean eof) {

    static Stdin read(Fields body) {
      boolean eof = body.flag("eof", false);
      String data = eof ? body.text("data", "") : body.text("data");
      Optional<Long> offset = body.nullableInteger("offset", 0, Long.MAX_VALUE);
      boolean tty = body.choice("target", TTY, "stdin");
      if (tty && eof) {
        body.fault("eof", "a terminal's input has no end: send \\u0004 (Ctrl-D)", "value_error");
      }
      return new Stdin(
          bytes(body, "data", data, body.choice("encoding", BASE64, "utf-8")),
          tty,
          offset.map(OptionalLong::of).orElseGet(OptionalLong::empty),
          eof);
    }
  }

  private ShellBodies() {}

  /** A signal's name or number, as text. */
  static String signal(Fields body) {
    JsonNode signal = body.node("signal");
    if (signal.isMissingNode()) {
      return "SIGTERM";
    }
    if (!signal.isTextual() && !signal.isIntegralNumber()) {
      body.fault("signal", "must be an integer or a string", "signal_type");
    }
    return signal.asText();
  }

  static long waitMs(Fields body) {
    return body.integer("timeout_ms", 30_000, 0, MAX_WAIT_MS);
  }

  /** Both of them. */
  static TerminalSize size(Fields body) {
    if (!body.has("rows")) {
      body.fault("rows", "is required", "missing");
    }
    if (!body.has("cols")) {
      body.fault("cols", "is required", "missing");
    }
    return size(body, TerminalSize.DEFAULT);
  }

  private static TerminalSize size(Fields body, TerminalSize otherwise) {
    return new TerminalSize(
        (int) body.integer("rows", otherwise.rows(), 1, MAX_ROWS),
        (int) body.integer("cols", otherwise.columns(), 1, MAX_ROWS));
  }

  private static String commandText(Fields body) {
    String command = body.nonEmptyText("command");
    if (command.indexOf('\0') >= 0) {
      body.fault("command", Names.NO_NUL.wanted(), "value_error");
    }
    if (command.getBytes(StandardCharsets.UTF_8).length > MAX_COMMAND_BYTES) {
      body.refuse(new Failure.InvalidLimit("the command is too long", MAX_COMMAND_BYTES));
    }
    return command;
  }

  private static ByteString bytes(Fields body, String name, String text, boolean base64) {
    if (!base64) {
      return ByteString.fromString(text, StandardCharsets.UTF_8);
    }
    try {
      return ByteString.fromArrayUnsafe(ContentEncoding.fromBase64(text));
    } catch (IllegalArgumentException e) {
      body.fault(name, "is no valid base64", "base64_invalid");
      return ByteString.emptyByteString();
    }
  }
}
