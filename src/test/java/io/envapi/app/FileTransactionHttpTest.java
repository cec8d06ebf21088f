package io.envapi.app;

import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A transaction through the whole service, and what is told of it. */
class FileTransactionHttpTest {

  @TempDir static Path temp;

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
      assertThat(audit).contains("\"file.mkdir\"", "\"file.write\"").doesNotContain("file.delete");
    }
  }
}
