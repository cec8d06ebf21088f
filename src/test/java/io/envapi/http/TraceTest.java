package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "b7ad6b7169203331";

  @Test
  void aTraceGoesOnWithASpanOfOurOwn() {
    var trace = Trace.of("00-" + TRACE + "-" + PARENT + "-01").orElseThrow();

    assertThat(trace.traceId()).isEqualTo(TRACE);
    assertThat(trace.parentId()).isEqualTo(PARENT);
    assertThat(trace.spanId()).matches("[0-9a-f]{16}").isNotEqualTo(PARENT);
  }

  @Test
  void laterVersionsMayHaveMore() {
    assertThat(Trace.of("01-" + TRACE + "-" + PARENT + "-01-more")).isPresent();
    assertThat(Trace.of("00-" + TRACE + "-" + PARENT + "-01-more")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01"
      })
  void whatIsNoTraceIsNone(String header) {
    assertThat(Trace.of(header)).isEmpty();
  }
}
