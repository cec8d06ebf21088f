package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GateTest {

  private static final String REFUSED =
      "{\"type\":\"urn:environments-api:error:unauthorized\",\"title\":\"Unauthorized\","
          + "\"status\":401,\"detail\":\"the token was not accepted\",\"code\":\"unauthorized\","
          + "\"instance\":\"/v1/echo\"}";

  @Nested
  class WithoutApiKeys {

    private static RunningFront front;
    private static String alice;

    @BeforeAll
    static void start() throws Exception {
      front = RunningFront.start(List.of());
      alice = front.token("alice");
    }

    @AfterAll
    static void stop() {
      front.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer ", "bearer ", "BEARER ", "Bearer   "})
    void theSchemeMayBeSpelledAnyWay(String scheme) throws Exception {
      HttpResponse<String> response = front.get("/v1/echo", "Authorization", scheme + alice);

      assertThat(response.body())
          .isEqualTo("{\"account\":\"alice\",\"profile\":\"personal\",\"n\":1}");
    }

    @Test
    void theOldHeaderIsAcceptedAloneOrWithTheSameToken() throws Exception {
      assertThat(front.get("/v1/echo", "X-Keyring-User-Token", alice).statusCode()).isEqualTo(200);
      assertThat(
              front
                  .get(
                      "/v1/echo", "Authorization", "Bearer " + alice, "X-Keyring-User-Token", alice)
                  .statusCode())
          .isEqualTo(200);
    }

    @Test
    void everyOtherWayIsRefusedAlike() throws Exception {
      String bob = front.token("bob");
      String elsewhere = front.mint("alice", "another-service");
      String bearer = "Bearer " + alice;
      String[][] ways = {
        {},
        {"Authorization", "Basic " + alice},
        {"Authorization", "Token " + alice},
        {"Authorization", alice},
        {"Authorization", "Bearer"},
        {"Authorization", "BearerX " + alice},
        {"Authorization", bearer + " " + alice},
        {"Authorization", "Bearer garbage"},
        {"Authorization", "Bearer " + "x".repeat(5000)},
        {"Authorization", "Bearer " + elsewhere},
        {"Authorization", bearer, "Authorization", bearer},
        {"Authorization", bearer, "X-Keyring-User-Token", bob},
        {"Authorization", bearer, "X-Keyring-User-Token", "garbage"},
        {"Authorization", "Bearer garbage", "X-Keyring-User-Token", alice},
        {"Authorization", "Basic " + alice, "X-Keyring-User-Token", alice},
        {"X-Keyring-User-Token", alice, "X-Keyring-User-Token", alice},
        {"X-API-Key", alice},
      };
      for (String[] way : ways) {
        HttpResponse<String> response = front.get("/v1/echo", way);
        assertThat(response.statusCode()).as(String.join(" ", way)).isEqualTo(401);
        assertThat(response.body()).isEqualTo(REFUSED);
        assertThat(response.headers().firstValue("WWW-Authenticate")).contains("Bearer");
      }
    }

    @Test
    void theProfileIsCheckedAndStandsInWhenBlank() throws Exception {
      assertThat(withProfile("p_1-x").body()).contains("\"profile\":\"p_1-x\"");
      assertThat(withProfile("  ").body()).contains("\"profile\":\"personal\"");
      for (String bad : List.of("Bad Profile", "UPPER", "-dash", "a/b", "x".repeat(65))) {
        HttpResponse<String> response = withProfile(bad);
        assertThat(response.statusCode()).isEqualTo(422);
        assertThat(RunningFront.json(response).get("header").textValue())
            .isEqualTo("X-Keyring-Profile");
      }
    }

    @Test
    void onlyOperatorsReachTheirRoutes() throws Exception {
      String operator = "Bearer " + front.token("operator");

      assertThat(front.get("/v1/admin/echo", "Authorization", operator).statusCode())
          .isEqualTo(204);
      HttpResponse<String> response =
          front.get("/v1/admin/echo", "Authorization", "Bearer " + alice);
      assertThat(response.statusCode()).isEqualTo(403);
      assertThat(RunningFront.json(response).get("code").textValue()).isEqualTo("forbidden");
      assertThat(front.get("/v1/admin/echo").statusCode()).isEqualTo(401);
    }

    /** An operator is who has exactly that name. */
    @Test
    void aNameLikeAnOperatorsIsNone() throws Exception {
      for (String name : List.of("Operator", "operator ", " operator", "operator\u0000", "oper")) {
        String token = "Bearer " + front.token(name);
        assertThat(front.get("/v1/echo", "Authorization", token).statusCode()).isEqualTo(200);
        assertThat(front.get("/v1/admin/echo", "Authorization", token).statusCode())
            .as(name)
            .isEqualTo(403);
      }
    }

    private HttpResponse<String> withProfile(String profile) throws Exception {
      return front.get(
          "/v1/echo", "Authorization", "Bearer " + alice, "X-Keyring-Profile", profile);
    }
  }

  @Nested
  class WithApiKeys {

    private static RunningFront front;
    private static String bearer;

    @BeforeAll
    static void start() throws Exception {
      front = RunningFront.start(List.of("first-key", "second-key"));
      bearer = "Bearer " + front.token("alice");
    }

    @AfterAll
    static void stop() {
      front.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"first-key", "second-key"})
    void anyKeyOpens(String key) throws Exception {
      assertThat(front.get("/v1/echo", "X-API-Key", key, "Authorization", bearer).statusCode())
          .isEqualTo(200);
    }

    @Test
    void noOtherKeyDoesAndNoToken() throws Exception {
      String[][] ways = {
        {"Authorization", bearer},
        {"Authorization", bearer, "X-API-Key", ""},
        {"Authorization", bearer, "X-API-Key", "third-key"},
        {"Authorization", bearer, "X-API-Key", "first-key", "X-API-Key", "first-key"},
        {"Authorization", "Bearer first-key"},
      };
      for (String[] way : ways) {
        HttpResponse<String> response = front.get("/v1/echo", way);
        assertThat(response.statusCode()).as(String.join(" ", way)).isEqualTo(401);
        assertThat(RunningFront.json(response).get("header").textValue()).isEqualTo("X-API-Key");
      }
    }

    @Test
    void aKeyIsNoToken() throws Exception {
      assertThat(front.get("/v1/echo", "X-API-Key", "first-key").body()).isEqualTo(REFUSED);
    }

    @Test
    void healthNeedsNoKey() throws Exception {
      assertThat(front.get("/health").statusCode()).isEqualTo(200);
    }
  }
}
