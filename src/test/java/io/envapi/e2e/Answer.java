package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpHeaders;

/** What the service answered. */
record Answer(int status, JsonNode body, HttpHeaders headers) {

  /** The value of a header; empty when there is none. */
  String header(String name) {
    return headers.firstValue(name).orElse("");
  }

  /** The body of an answer that has to have this status. */
  JsonNode expect(int wanted) {
    assertThat(status).as("status of %s", body).isEqualTo(wanted);
    return body;
  }

  /** The body of a refusal that has to be this one. */
  JsonNode refused(int wanted, String code) {
    assertThat(expect(wanted).path("code").asText()).isEqualTo(code);
    return body;
  }
}
