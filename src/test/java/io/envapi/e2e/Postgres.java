package io.envapi.e2e;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A PostgreSQL of its own in a directory, as the user {@code nobody} where this is root. */
final class Postgres implements AutoCloseable {

  private static final String PASSWORD = "a-password-for-the-journal";

  private final Path binaries;
  private final Path data;
  private final Path log;
  private final int port;

  private Postgres(Path binaries, Path data, Path log, int port) {
    this.binaries = binaries;
    this.data = data;
    this.log = log;
    this.port = port;
  }

  /** Skips the test where there is no server to start. */
  static Postgres start(Path directory) throws Exception {
    Optional<Path> binaries = binaries();
    assumeTrue(binaries.isPresent(), "no PostgreSQL server (initdb, pg_ctl) is installed");
    Path home = Files.createDirectory(directory.resolve("postgresql"));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path secret = Files.writeString(home.resolve("password"), PASSWORD);
    var postgres =
        new Postgres(binaries.get(), home.resolve("data"), home.resolve("log"), freePort());
    postgres.run(
        "initdb",
        "--pgdata=" + postgres.data,
        "--username=envapi",
        "--pwfile=" + secret,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-sync");
    postgres.begin();
    return postgres;
  }

  private static Optional<Path> binaries() throws IOException {
    Path versions = Path.of("/usr/lib/postgresql");
    if (Files.isDirectory(versions)) {
      try (Stream<Path> found = Files.list(versions)) {
        Optional<Path> newest = found.sorted().map(v -> v.resolve("bin")).reduce((a, b) -> b);
        if (newest.filter(bin -> Files.isExecutable(bin.resolve("initdb"))).isPresent()) {
          return newest;
        }
      }
    }
    return Arrays.stream(System.getenv("PATH").split(":"))
        .map(Path::of)
        .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
        .findFirst();
  }

  void begin() throws Exception {
    run(
        "pg_ctl",
        "--pgdata=" + data,
        "--log=" + log,
        "--wait",
        "--options=-p " + port + " -c listen_addresses=127.0.0.1 -c unix_socket_directories=",
        "start");
  }

  void end() throws Exception {
    run("pg_ctl", "--pgdata=" + data, "--mode=immediate", "--wait", "stop");
  }

  String url() {
    return url("postgres");
  }

  private String url(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + database;
  }

  /** Makes one more; its address. */
  String database(String name) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url(), user(), password());
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    }
    return url(name);
  }

  String user() {
    return "envapi";
  }

  String password() {
    return PASSWORD;
  }

  private void run(String program, String... arguments) throws Exception {
    List<String> argv = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      argv.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
    }
    argv.add(binaries.resolve(program).toString());
    argv.addAll(List.of(arguments));
    Path output = Files.createTempFile("postgresql", ".log");
    Process process =
        new ProcessBuilder(argv)
            .directory(data.getParent().toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int status = process.waitFor();
    String said = Files.readString(output);
    Files.delete(output);
    if (status != 0) {
      throw new IOException(program + " ended with " + status + ": " + said);
    }
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() throws Exception {
    if (Files.exists(data.resolve("postmaster.pid"))) {
      end();
    }
  }
}
