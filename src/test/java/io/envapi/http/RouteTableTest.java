package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RouteTableTest {

  private static final RouteTable.ForCaller ENDPOINT = (_, _) -> new Answer.Nothing().now();

  private final RouteTable table = new RouteTable();

  @BeforeEach
  void addRoutes() {
    table.on("/v1/things").get(ENDPOINT).post(ENDPOINT);
    table.on("/v1/things/{thing}").delete(ENDPOINT);
    table.on("/v1/things/{thing}/parts/{part}").get(ENDPOINT);
    table.on("/v1/things/all").get(ENDPOINT);
  }

  @Test
  void variableSegmentsAreDecoded() {
    assertThat(table.find("GET", "/v1/things/a%2Fb%20%C3%A9/parts/2"))
        .isEqualTo(
            new RouteTable.Found(
                "/v1/things/{thing}/parts/{part}",
                ENDPOINT,
                Map.of("thing", "a/b \u00e9", "part", "2")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "*",
        "v1/things",
        "/v1",
        "/v1/",
        "/v1/things/",
        "//v1/things",
        "/v1//things",
        "/v1/things/x/parts",
        "/v1/things/x/parts/",
        "/v1/things/%ff",
        "/v1/%74hings",
        "/v1/things/x/parts/1/",
        "/V1/things",
        "/v1/things;x",
        "/v1/./things",
        "/v1/x/../things"
      })
  void everyOtherPathLeadsNowhere(String path) {
    assertThat(table.find("GET", path)).isEqualTo(new RouteTable.Nowhere());
  }

  @Test
  void aWrongMethodIsToldTheRightOnes() {
    assertThat(table.find("PATCH", "/v1/things"))
        .isInstanceOfSatisfying(
            RouteTable.WrongMethod.class,
            wrong -> assertThat(wrong.allowed()).containsExactly("GET", "HEAD", "POST"));
    assertThat(table.find("GET", "/v1/things/x"))
        .isInstanceOfSatisfying(
            RouteTable.WrongMethod.class,
            wrong -> assertThat(wrong.allowed()).containsExactly("DELETE"));
  }

  @Test
  void headIsGetWithoutTheBody() {
    assertThat(table.find("HEAD", "/v1/things")).isInstanceOf(RouteTable.Found.class);
  }

  @Test
  void twoEndpointsForOneMethodAreABug() {
    assertThatThrownBy(() -> table.on("/v1/things").get(ENDPOINT))
        .isInstanceOf(IllegalStateException.class);
  }
}
