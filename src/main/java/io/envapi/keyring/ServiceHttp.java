package io.envapi.keyring;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * GET requests to a service beside this one: no redirect is followed, an answer has a largest size
 * and the exchange, body included, a longest time.
 */
public final class ServiceHttp implements AutoCloseable {

  /** Larger than any honest answer by far. */
  private static final int MAX_BODY_BYTES = 1 << 20;

  // Answers are read, and whoever waits for them goes on, here: not on the JDK's one timer thread.
  private final Executor workers = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client;
  private final String base;
  private final Duration timeout;

  /**
   * @param timeout for a whole exchange
   */
  public ServiceHttp(URI baseUrl, Duration timeout) {
    this.base = baseUrl.toString().replaceFirst("/+$", "");
    this.timeout = timeout;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout)
            .executor(workers)
            .build();
  }

  /** The answer whatever its status; the stage fails when there is none. */
  public CompletableFuture<HttpResponse<byte[]>> get(String path, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(timeout)
            .header("Accept", "application/json");
    try {
      headers.forEach(request::header);
    } catch (IllegalArgumentException e) {
      // Not handed on: its text is the value.
      return CompletableFuture.failedFuture(new IllegalArgumentException("unsendable header"));
    }
    var sent =
        client.sendAsync(
            request.build(), BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_BODY_BYTES));
    // The request's own timeout ends with the headers: a body that trickles would hold us for ever.
    var answer = sent.copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
    return answer.whenCompleteAsync((_, _) -> sent.cancel(true), workers);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
