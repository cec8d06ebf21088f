package io.envapi.app;

import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A transaction through the whole service, and what is told of it. */
class FileTransactionHttpTest {

  @TempDir static Path temp;

  /** However much a transaction does, its line is short, and tells of what was removed first. */
  @Test
  void theLineOfALargeTransactionIsShort(@TempDir Path root) throws Exception {
    try (RunningApi api = RunningApi.start(root, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "alice"))) {
      String environment = api.environment();
      api.call(
          "alice", "PUT", environment + "/files/content", "{\"path\":\"gone\",\"content\":\"x\"}");
      var operations = new StringJoiner(",", "{\"operations\":[", "]}");
      for (int i = 0; i < 99; i++) {
        String path = ("d".repeat(200) + "/").repeat(10) + i;
        operations.add("{\"op\":\"write\",\"path\":\"%s\",\"content\":\"\"}".formatted(path));
      }
      operations.add("{\"op\":\"delete\",\"path\":\"gone\"}");

      HttpResponse<String> done =
          api.call("alice", "POST", environment + "/files/transaction", operations.toString());
      HttpResponse<String> told =
          api.call("alice", "GET", "/v1/admin/audit?action=file.transaction", "");

      assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
      var event = RunningApi.json(told).path("events").path(0);
      assertThat(event.path("operations").intValue()).isEqualTo(100);
      assertThat(event.path("changes")).hasSize(10);
      assertThat(event.path("changes").get(0).textValue()).isEqualTo("file.delete gone");
      assertThat(told.body()).hasSizeLessThan(6000);
    }
  }

  @Test
  void aTransactionIsAnsweredAndAudited() throws Exception {
    try (RunningApi api = RunningApi.start(temp, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "alice"))) {
      String environment = api.environment();
      String target = environment + "/files/transaction";
      HttpResponse<String> done =
          api.send(
              api.request(target)
                  .POST(
                      ofString(
                          """
                          {"operations": [
                            {"op": "write", "path": "a/b", "content": "one"},
                            {"op": "edit", "path": "a/b", "old_string": "one", "new_string": "two"},
                            {"op": "mkdir", "path": "d"}]}""")));
      assertThat(done.statusCode()).isEqualTo(200);
      var operations = RunningApi.json(done).path("operations");
      assertThat(operations).hasSize(3);
      assertThat(operations.get(1).path("diff").asText()).contains("-one", "+two");
      assertThat(operations.get(2).path("path").asText()).isEqualTo("d");

      String unknown = "{\"operations\":[{\"op\":\"chmod\",\"path\":\"a/b\"}]}";
      assertThat(
              RunningApi.json(api.send(api.request(target).POST(ofString(unknown))))
                  .path("errors")
                  .findValuesAsText("type"))
          .containsExactly("literal_error");

      HttpResponse<String> refused =
          api.send(
              api.request(target)
                  .POST(
                      ofString(
                          """
                          {"operations": [
                            {"op": "write", "path": "x", "content": "x"},
                            {"op": "delete", "path": "a/b", "if_match": "\\"stale\\""}]}""")));
      assertThat(refused.statusCode()).isEqualTo(412);
      assertThat(RunningApi.json(refused).path("code").asText()).isEqualTo("file_changed");
      assertThat(RunningApi.json(refused).path("errors").get(0).path("loc").toString())
          .isEqualTo("[\"body\",\"operations\",\"1\"]");
      for (String wrong :
          new String[] {
            "{}",
            "{\"operations\": []}",
            "{\"operations\": [{\"op\": \"chmod\"}]}",
            "{\"operations\": [7]}",
            "{\"operations\": [{\"op\": \"write\", \"path\": \"p\"}]}"
          }) {
        assertThat(api.send(api.request(target).POST(ofString(wrong))).statusCode())
            .as(wrong)
            .isEqualTo(422);
      }
      String audit = api.send(api.request("/v1/admin/audit")).body();
      assertThat(audit)
          .contains(
              "\"operations\":3,\"changes\":"
                  + "[\"file.write a/b\",\"file.write a/b\",\"file.mkdir d\"]")
          .doesNotContain("file.delete");
      assertThat(audit.split("\"file.transaction\"", -1)).as("one line").hasSize(2);
    }
  }
}
