package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * After a busy run with a credential, nothing of it is in an answer, in any file of the service, in
 * a log, or on a command line, as it is or encoded.
 */
class SecretsTest {

  private static final String SECRET = "s3cr3t/Value+with\"quotes'&\nand-a-second-line%7Eof=it";

  @TempDir Path directory;

  /** What must not be found, as bytes of text. */
  private static List<String> forms() {
    byte[] bytes = SECRET.getBytes(StandardCharsets.UTF_8);
    var forms = new ArrayList<String>();
    forms.add(SECRET);
    forms.add(SECRET.lines().toList().getLast());
    forms.add(HexFormat.of().formatHex(bytes));
    for (int offset = 0; offset < 3; offset++) {
      byte[] shifted = new byte[bytes.length + offset];
      System.arraycopy(bytes, 0, shifted, offset, bytes.length);
      String encoded = Base64.getEncoder().withoutPadding().encodeToString(shifted);
      // The first and last characters depend on the neighbours too.
      forms.add(encoded.substring(4, encoded.length() - 4));
    }
    forms.add("s3cr3t%2FValue%2Bwith%22quotes");
    forms.add("s3cr3t/Value+with\\\"quotes");
    return forms;
  }

  private static void assertClean(String where, byte[] content) {
    String text = new String(content, StandardCharsets.ISO_8859_1);
    for (String form : forms()) {
      assertThat(text.contains(form)).as("%s holds %s", where, form).isFalse();
    }
  }

  @Test
  void nothingOfACredentialIsKeptOrTold() throws Exception {
    String serviceToken = "the-service-token-of-enough-characters-1";
    try (RunningService service =
        RunningService.start(
            directory,
            Map.of("ENVAPI_KEYRING_SERVICE_TOKEN", serviceToken),
            Map.of("DEV_KEYRING_SERVICE_TOKEN", serviceToken))) {
      Client alice = service.as("alice");
      store(service.keyring());
      String environment =
          alice
              .post("/v1/environments", Map.of("name", "busy", "credentials", List.of("vault")))
              .expect(201)
              .path("id")
              .asText();
      var answers = new ArrayList<Answer>();
      String shell = alice.shell(environment);
      for (String command :
          List.of(
              "test ${#VAULT_API_KEY} -gt 20 && echo present",
              "echo \"$VAULT_API_KEY\"; echo \"$VAULT_API_KEY\" >&2",
              "printf %s \"$VAULT_API_KEY\" | base64 -w0; echo",
              "printf 'x%s' \"$VAULT_API_KEY\" | base64 -w0; echo",
              "printf 'xy%s' \"$VAULT_API_KEY\" | base64 -w0; echo",
              "printf %s \"$VAULT_API_KEY\" | od -An -v -tx1 | tr -d ' \\n'",
              "printf %s \"${VAULT_API_KEY:0:9}\"; sleep 0.1; printf %s \"${VAULT_API_KEY:9}\"",
              "(sleep 1; echo late \"$VAULT_API_KEY\") &",
              "cat /nonexistent \"$VAULT_API_KEY\"",
              "\"$VAULT_API_KEY\"",
              "exit 3; $VAULT_API_KEY (",
              "env; set")) {
        answers.add(alice.exec(shell, command, 20_000));
      }
      assertThat(answers.getFirst().body().path("output").asText()).isEqualTo("present\n");
      assertThat(answers.get(1).body().path("output").asText()).contains("«redacted:vault»");
      String second = alice.shell(environment);
      String running = "sh -c 'sleep 3; : \"$VAULT_API_KEY\"'";
      answers.add(alice.exec(second, running, 0));
      assertNoCommandLineOfTheService(service);
      answers.add(
          alice.post(
              "/v1/exec",
              Map.of("environment_id", environment, "command", "echo \"$VAULT_API_KEY\"")));
      answers.add(alice.exec(second, "", 0));
      answers.add(alice.post("/v1/exec", Map.of("environment_id", environment)));
      for (String path :
          List.of(
              "/v1/shells/" + shell + "/output?max_bytes=1000000",
              "/v1/shells/" + shell + "/commands",
              "/v1/shells/" + second + "/processes",
              "/v1/environments/" + environment,
              "/v1/environments/" + environment + "/summary",
              "/v1/environments/" + environment + "/processes")) {
        answers.add(alice.get(path));
      }
      for (Answer answer : List.copyOf(answers)) {
        String id = answer.body().path("id").asText();
        if (id.startsWith("cmd_")) {
          answers.add(alice.get("/v1/commands/" + id));
        }
      }
      answers.add(service.as(RunningService.OPERATOR).get("/v1/admin/audit?limit=1000"));

      for (Answer answer : answers) {
        assertClean("an answer", Client.JSON.writeValueAsBytes(answer.body()));
        if (answer.body().has("output")) {
          assertClean(
              "output", answer.body().path("output").asText().getBytes(StandardCharsets.UTF_8));
        }
      }
      // Killed, so that nothing is cleaned up first.
      service.kill();
      assertClean("the log", service.log().getBytes(StandardCharsets.UTF_8));
      assertThat(service.log()).doesNotContain(serviceToken);
      try (Stream<Path> tree = Files.walk(service.root())) {
        List<Path> files = tree.filter(Files::isRegularFile).toList();
        assertThat(files).anyMatch(f -> f.toString().contains("journal"));
        assertThat(files).anyMatch(f -> f.toString().contains("audit"));
        assertThat(files).anyMatch(f -> f.toString().contains("logs"));
        for (Path file : files) {
          byte[] content = Files.readAllBytes(file);
          assertClean(file.getFileName().toString(), content);
          assertThat(new String(content, StandardCharsets.ISO_8859_1)).doesNotContain(serviceToken);
        }
      }
    }
  }

  private static void store(String keyring) throws Exception {
    byte[] body =
        Client.JSON.writeValueAsBytes(
            Map.of("account_id", "alice", "query_params", Map.of("api_key", SECRET)));
    try (var http = HttpClient.newHttpClient()) {
      var stored =
          http.send(
              HttpRequest.newBuilder(URI.create(keyring + "/dev/credentials/personal/vault"))
                  .PUT(HttpRequest.BodyPublishers.ofByteArray(body))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(stored.statusCode()).isEqualTo(200);
    }
  }

  /** Every process of the host, as {@code ps} would show it. */
  private static void assertNoCommandLineOfTheService(RunningService service) throws IOException {
    assertThat(service.process().isAlive()).isTrue();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path process :
          processes.filter(p -> p.getFileName().toString().matches("[0-9]+")).toList()) {
        try {
          assertClean("a command line", Files.readAllBytes(process.resolve("cmdline")));
        } catch (IOException e) {
          assertThat(Files.exists(process.resolve("stat"))).as("ended meanwhile").isFalse();
        }
      }
    }
  }
}
