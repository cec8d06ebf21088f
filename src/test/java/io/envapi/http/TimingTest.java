package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.app.RunningApi;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The time of a refusal tells no more than its text. What differs by so little that a busy host
 * hides it is not seen here; a look at a disk, a journal or another actor is.
 */
class TimingTest {

  private static final int SAMPLES = 300;
  private static final int ROUNDS = 8;

  @TempDir static Path root;

  private static RunningApi api;
  private static String mallory;
  private static String hers;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of("ENVAPI_MAX_REFUSED_PER_SECOND", "0"));
    mallory = api.token("mallory");
    hers = api.environment();
    api.call("alice", "POST", hers + "/shells", "{}");
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  @Test
  void somebodyElsesTakesAsLongAsWhatNeverWas() throws Exception {
    String id = hers.substring(hers.lastIndexOf("env_") + 4);
    assertAlike(
        api.request(hers, mallory), api.request("/v1/environments/env_ffffffffffff", mallory), 404);
    assertAlike(
        api.request("/v1/shells/sh_" + id + "_1", mallory),
        api.request("/v1/shells/sh_ffffffffffff_1", mallory),
        404);
  }

  /** Which of the checks of a token failed. */
  @Test
  void aTokenSignedByNobodyTakesAsLongAsOneForAnotherService() throws Exception {
    String elsewhere = api.tokenFor("alice", "another-service");
    String forged = api.token.substring(0, api.token.lastIndexOf('.') + 1);
    forged += elsewhere.substring(elsewhere.lastIndexOf('.') + 1);
    assertAlike(
        api.request("/v1/environments", forged), api.request("/v1/environments", elsewhere), 401);
  }

  /** In one round at least: others use this host too, but no round hides what is always there. */
  private static void assertAlike(HttpRequest.Builder one, HttpRequest.Builder other, int status)
      throws Exception {
    String told = "";
    for (int round = 0; round < ROUNDS; round++) {
      var ones = new long[SAMPLES];
      var others = new long[SAMPLES];
      for (int i = 0; i < SAMPLES; i++) {
        ones[i] = nanos(one, status);
        others[i] = nanos(other, status);
      }
      double ratio = (double) median(ones) / median(others);
      if (ratio > 0.87 && ratio < 1.15) {
        return;
      }
      told += " " + ratio;
    }
    assertThat(told).as("medians of one and the other, as ratios").isEmpty();
  }

  private static long nanos(HttpRequest.Builder request, int status) throws Exception {
    long began = System.nanoTime();
    int got = api.send(request).statusCode();
    long nanos = System.nanoTime() - began;
    assertThat(got).isEqualTo(status);
    return nanos;
  }

  private static long median(long[] nanos) {
    Arrays.sort(nanos);
    return nanos[nanos.length / 2];
  }
}
