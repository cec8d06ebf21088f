package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.app.RunningApi;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who may do what, asked of every way in there is: the route table says which, and one without a
 * sample here fails. To whoever is not its owner, what exists is what never existed.
 */
class TenancyTest {

  private static final Pattern VARIABLE = Pattern.compile("\\{([a-z]+)}");

  /** Of what never existed. */
  private static final Map<String, String> UNKNOWN =
      Map.of(
          "environment", "env_ffffffffffff",
          "shell", "sh_ffffffffffff_1",
          "command", "cmd_ffffffffffff_1_1",
          "pid", "999999999",
          "account", "nobody");

  /**
   * What makes a request that its owner could send.
   *
   * @param body may name ids, in braces like the path
   */
  private record Sample(String query, String body) {}

  private static final Map<String, Sample> SAMPLES = new HashMap<>();

  private static void sample(String route, String query, String body) {
    SAMPLES.put(route, new Sample(query, body));
  }

  static {
    String environment = "/v1/environments/{environment}";
    String files = environment + "/files";
    sample("GET /health", "", "");
    sample("GET /healthy", "", "");
    sample("GET /health/ready", "", "");
    sample("GET /ready", "", "");
    sample("POST /v1/environments", "", "{\"name\":\"n\"}");
    sample("GET /v1/environments", "", "");
    sample("GET " + environment, "", "");
    sample("DELETE " + environment, "", "");
    sample("GET " + environment + "/summary", "", "");
    sample("GET " + environment + "/usage", "", "");
    sample("GET " + environment + "/events", "", "");
    sample("POST " + environment + "/reset", "", "");
    sample("POST " + environment + "/shells", "", "{}");
    sample("GET " + environment + "/shells", "", "");
    sample("GET " + environment + "/processes", "", "");
    sample("POST " + environment + "/processes/{pid}/signal", "", "{\"signal\":\"KILL\"}");
    sample("GET " + files, "", "");
    sample("GET " + files + "/content", "?path=f", "");
    sample("PUT " + files + "/content", "", "{\"path\":\"f\",\"content\":\"x\"}");
    sample("DELETE " + files + "/content", "?path=f", "");
    sample(
        "POST " + files + "/edit",
        "",
        "{\"path\":\"f\",\"old_string\":\"secret\",\"new_string\":\"x\"}");
    sample(
        "POST " + files + "/patch",
        "",
        "{\"path\":\"f\",\"patch\":\"@@ -1 +1 @@\\n-secret\\n+x\\n\"}");
    sample("POST " + files + "/directories", "", "{\"path\":\"d\"}");
    sample("POST " + files + "/copy", "", "{\"source\":\"f\",\"destination\":\"g\"}");
    sample("POST " + files + "/move", "", "{\"source\":\"f\",\"destination\":\"g\"}");
    sample("GET " + files + "/search", "?pattern=secret", "");
    sample(
        "POST " + files + "/transaction",
        "",
        "{\"operations\":[{\"op\":\"delete\",\"path\":\"f\"}]}");
    sample("GET " + files + "/raw", "?path=f", "");
    sample("PUT " + files + "/raw", "?path=f", "x");
    sample("GET " + files + "/archive", "", "");
    sample("PUT " + files + "/archive", "?format=zip", "x");
    sample("GET " + files + "/watch", "", "");
    sample("GET /v1/shells/{shell}", "", "");
    sample("DELETE /v1/shells/{shell}", "", "");
    sample("POST /v1/shells/{shell}/exec", "", "{\"command\":\"true\"}");
    sample("GET /v1/shells/{shell}/output", "", "");
    sample("GET /v1/shells/{shell}/output/stream", "", "");
    sample("GET /v1/shells/{shell}/commands", "", "");
    sample("GET /v1/shells/{shell}/processes", "", "");
    sample("POST /v1/shells/{shell}/wait", "", "{}");
    sample("POST /v1/shells/{shell}/signal", "", "{\"signal\":\"KILL\"}");
    sample("POST /v1/shells/{shell}/stdin", "", "{\"data\":\"x\"}");
    sample("POST /v1/shells/{shell}/resize", "", "{\"rows\":10,\"cols\":10}");
    sample("GET /v1/commands/{command}", "", "");
    sample("GET /v1/commands/{command}/output/stream", "", "");
    sample("POST /v1/exec", "", "{\"environment_id\":\"{environment}\",\"command\":\"true\"}");
    sample("GET /v1/admin/quotas/{account}", "", "");
    sample("PUT /v1/admin/quotas/{account}", "", "{\"overrides\":{}}");
    sample("GET /v1/admin/environments", "", "");
    sample("POST /v1/admin/environments/{environment}/close", "", "");
    sample("POST /v1/admin/environments/{environment}/archive", "", "");
    sample("GET /v1/admin/hosts", "", "");
    sample("GET /v1/admin/audit", "", "");
    sample("GET /v1/admin/log-level", "", "");
    sample("PUT /v1/admin/log-level", "", "{\"level\":\"INFO\"}");
  }

  @TempDir static Path root;

  private static RunningApi api;
  private static String stranger;

  /** Of what alice has. */
  private static Map<String, String> hers;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "operator"));
    stranger = api.token("mallory");
    String environment = api.environment();
    JsonNode shell = post(environment + "/shells", "{}");
    String id = shell.get("id").asText();
    JsonNode command =
        post(
            "/v1/shells/" + id + "/exec",
            "{\"command\":\"echo secret > f; cat f\",\"wait_ms\":20000}");
    hers =
        Map.of(
            "environment",
            environment.substring(environment.lastIndexOf('/') + 1),
            "shell",
            id,
            "command",
            command.get("id").asText(),
            "pid",
            shell.get("pid").asText(),
            "account",
            "alice");
    assertThat(command.get("output").asText()).isEqualTo("secret\n");
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  @Test
  void everyRouteHasASampleAndEverySampleARoute() {
    assertThat(SAMPLES.keySet())
        .containsExactlyInAnyOrderElementsOf(
            api.api.entries().stream().map(TenancyTest::key).toList());
  }

  @Test
  void everyVariableIsKnown() {
    assertThat(api.api.entries().stream().flatMap(entry -> variables(entry.template()).stream()))
        .allMatch(UNKNOWN::containsKey);
  }

  @TestFactory
  Stream<DynamicTest> whatIsSomebodyElsesIsNotThere() {
    return api.api.entries().stream()
        .filter(TenancyTest::namesWhatHasAnOwner)
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    key(entry),
                    () -> {
                      String others = answer(entry, hers, stranger);
                      assertThat(others).startsWith("404 ").contains("\"code\":\"not_found\"");
                      assertThat(others).isEqualTo(answer(entry, UNKNOWN, stranger));
                      assertThat(others).doesNotContain("secret");
                    }));
  }

  @TestFactory
  Stream<DynamicTest> withoutATokenNothingIsTold() {
    return api.api.entries().stream()
        .filter(entry -> !(entry.endpoint() instanceof RouteTable.Open))
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    key(entry),
                    () -> {
                      String nobody = answer(entry, hers, "");
                      assertThat(nobody).startsWith("401 ").contains("\"code\":\"unauthorized\"");
                      assertThat(nobody).isEqualTo(answer(entry, UNKNOWN, ""));
                    }));
  }

  @TestFactory
  Stream<DynamicTest> operatorsAloneAreLetIntoTheirRoutes() {
    return api.api.entries().stream()
        .filter(entry -> entry.template().startsWith("/v1/admin/"))
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    key(entry),
                    () ->
                        assertThat(answer(entry, hers, stranger))
                            .startsWith("403 ")
                            .contains("\"code\":\"forbidden\"")
                            .isEqualTo(answer(entry, UNKNOWN, stranger))));
  }

  @Test
  void nothingElseIsOpen() {
    assertThat(api.api.entries())
        .filteredOn(entry -> entry.endpoint() instanceof RouteTable.Open)
        .extracting(RouteTable.Entry::template)
        .doesNotContainAnyElementsOf(
            api.api.entries().stream()
                .map(RouteTable.Entry::template)
                .filter(template -> template.startsWith("/v1/"))
                .toList());
  }

  @Test
  void aListHoldsWhatIsOnesOwn() throws Exception {
    assertThat(api.send(api.request("/v1/environments", stranger)).body())
        .doesNotContain(hers.get("environment"));
    assertThat(api.send(api.request("/v1/environments")).body()).contains(hers.get("environment"));
  }

  private static boolean namesWhatHasAnOwner(RouteTable.Entry entry) {
    Sample sample = SAMPLES.getOrDefault(key(entry), new Sample("", ""));
    return entry.endpoint() instanceof RouteTable.ForCaller
        && !variables(entry.template() + sample.query() + sample.body()).isEmpty();
  }

  /** Everything that tells one answer from another, with the ids that were sent taken out. */
  private static String answer(RouteTable.Entry entry, Map<String, String> ids, String token)
      throws Exception {
    Sample sample = SAMPLES.get(key(entry));
    assertThat(sample).as("a sample of %s", key(entry)).isNotNull();
    String target = filled(entry.template() + sample.query(), ids);
    HttpRequest.BodyPublisher body =
        sample.body().isEmpty()
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(filled(sample.body(), ids));
    HttpRequest.Builder request =
        token.isEmpty() ? api.anonymous(target) : api.request(target, token);
    HttpResponse<String> response = api.send(request.method(entry.method(), body));
    var headers = new TreeMap<>(response.headers().map());
    headers.keySet().removeAll(List.of("x-request-id", "date", "content-length", "connection"));
    String told = response.statusCode() + " " + headers + "\n" + response.body();
    for (Map.Entry<String, String> id : ids.entrySet()) {
      told = told.replace(id.getValue(), "{" + id.getKey() + "}");
    }
    return told;
  }

  private static List<String> variables(String text) {
    return VARIABLE.matcher(text).results().map(found -> found.group(1)).toList();
  }

  private static String filled(String text, Map<String, String> ids) {
    return VARIABLE.matcher(text).replaceAll(found -> ids.get(found.group(1)));
  }

  private static String key(RouteTable.Entry entry) {
    return entry.method() + " " + entry.template();
  }

  private static JsonNode post(String target, String body) throws Exception {
    HttpResponse<String> response =
        api.send(api.request(target).POST(HttpRequest.BodyPublishers.ofString(body)));
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 201);
    return RunningApi.json(response);
  }
}
