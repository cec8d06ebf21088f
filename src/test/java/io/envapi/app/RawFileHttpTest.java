package io.envapi.app;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static java.net.http.HttpRequest.BodyPublishers.ofByteArray;
import static java.net.http.HttpRequest.BodyPublishers.ofInputStream;
import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of files through the whole service. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RawFileHttpTest {

  private static final long QUOTA = 200 << 20;
  private static final int PIECE = 1 << 20;

  @TempDir static Path temp;

  private RunningApi api;
  private String environment;
  private Path workspace;

  @BeforeAll
  void start() throws Exception {
    api = RunningApi.start(temp, Map.of("ENVAPI_MAX_DISK_BYTES", Long.toString(QUOTA)));
  }

  @BeforeEach
  void anEnvironment() throws Exception {
    if (environment != null) {
      api.send(api.request(environment).DELETE());
    }
    environment = api.environment();
    workspace = api.workspace(environment);
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
  }

  private HttpRequest.Builder raw(String path) {
    return api.request(environment + "/files/raw?path=" + path);
  }

  private HttpResponse<String> put(String path, String content, String... headers)
      throws Exception {
    HttpRequest.Builder request = raw(path).PUT(ofString(content));
    return api.send(headers.length == 0 ? request : request.headers(headers));
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request = raw(path);
    return api.send(headers.length == 0 ? request : request.headers(headers));
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  private List<String> names() throws Exception {
    try (var files = Files.walk(workspace)) {
      return files.skip(1).map(p -> workspace.relativize(p).toString()).sorted().toList();
    }
  }

  @Test
  void aFileGoesInAndComesOut() throws Exception {
    var created = put("a/b/%C3%A9%20%22.txt", "hello");
    assertThat(created.statusCode()).isEqualTo(201);
    assertThat(RunningApi.json(created).path("size").asInt()).isEqualTo(5);
    assertThat(names()).containsExactly("a", "a/b", "a/b/é \".txt");

    var read = get("a/b/%C3%A9%20%22.txt");
    assertThat(read.statusCode()).isEqualTo(200);
    assertThat(read.body()).isEqualTo("hello");
    assertThat(header(read, "ETag")).isEqualTo(header(created, "ETag")).startsWith("\"");
    assertThat(header(read, "Content-Length")).isEqualTo("5");
    assertThat(header(read, "Content-Type")).isEqualTo("application/octet-stream");
    assertThat(header(read, "Content-Disposition"))
        .isEqualTo("attachment; filename=\"_ _.txt\"; filename*=UTF-8''%C3%A9%20%22.txt");
    assertThat(header(read, "Accept-Ranges")).isEqualTo("bytes");

    var head = api.send(raw("a/b/%C3%A9%20%22.txt").method("HEAD", noBody()));
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(header(head, "Content-Length")).isEqualTo("5");
    assertThat(header(head, "ETag")).isEqualTo(header(created, "ETag"));
    assertThat(put("a/b/%C3%A9%20%22.txt", "").statusCode()).isEqualTo(200);
    assertThat(get("a/b/%C3%A9%20%22.txt").body()).isEmpty();
  }

  @Test
  void theOtherRoutesKnowTheSameTag() throws Exception {
    String etag = header(put("f", "one"), "ETag");
    var read = api.send(api.request(environment + "/files/content?path=f"));
    assertThat(header(read, "ETag")).isEqualTo(etag);
  }

  @Test
  void oneRangeIsServed() throws Exception {
    put("f", "0123456789");
    var middle = get("f", "Range", "bytes=2-4");
    assertThat(middle.statusCode()).isEqualTo(206);
    assertThat(middle.body()).isEqualTo("234");
    assertThat(header(middle, "Content-Range")).isEqualTo("bytes 2-4/10");
    assertThat(get("f", "Range", "bytes=7-").body()).isEqualTo("789");
    assertThat(get("f", "Range", "bytes=7-99999999999999999999").body()).isEqualTo("789");
    assertThat(get("f", "Range", "bytes=99999999999999999999-").statusCode()).isEqualTo(416);
    assertThat(get("f", "Range", "bytes=-3").body()).isEqualTo("789");
    assertThat(get("f", "Range", "bytes=-30").body()).isEqualTo("0123456789");
    assertThat(get("f", "Range", "bytes=8-99999").body()).isEqualTo("89");
    for (String whole : List.of("bytes=1-2,4-5", "bytes=4-2", "lines=1-2", "bytes=-", "nonsense")) {
      var answer = get("f", "Range", whole);
      assertThat(answer.statusCode()).as(whole).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("0123456789");
    }
    for (String none : List.of("bytes=10-", "bytes=-0")) {
      var answer = get("f", "Range", none);
      assertThat(answer.statusCode()).as(none).isEqualTo(416);
      assertThat(header(answer, "Content-Range")).isEqualTo("bytes */10");
    }
    String etag = header(get("f"), "ETag");
    assertThat(get("f", "Range", "bytes=1-1", "If-Range", etag).body()).isEqualTo("1");
    assertThat(get("f", "Range", "bytes=1-1", "If-Range", "\"x\"").statusCode()).isEqualTo(200);
  }

  @Test
  void preconditionsHold() throws Exception {
    assertThat(put("f", "one", "If-Match", "*").statusCode()).isEqualTo(412);
    assertThat(put("f", "one", "If-None-Match", "*").statusCode()).isEqualTo(201);
    assertThat(put("f", "two", "If-None-Match", "*").statusCode()).isEqualTo(412);
    String etag = header(get("f"), "ETag");
    assertThat(get("f", "If-None-Match", "W/" + etag).statusCode()).isEqualTo(304);
    assertThat(get("f", "If-None-Match", "\"x\"").statusCode()).isEqualTo(200);
    assertThat(get("f", "If-Match", "\"x\"").statusCode()).isEqualTo(412);
    assertThat(put("f", "two", "If-Match", etag).statusCode()).isEqualTo(200);
    assertThat(put("f", "three", "If-Match", etag).statusCode()).isEqualTo(412);
    assertThat(get("f").body()).isEqualTo("two");
    assertThat(names()).containsExactly("f");
  }

  @Test
  void whatCannotBeIsRefusedAndLeavesNothing() throws Exception {
    put("d/f", "x");
    assertThat(get("d").statusCode()).isEqualTo(404);
    assertThat(get("missing").statusCode()).isEqualTo(404);
    assertThat(put("d", "x").statusCode()).isEqualTo(422);
    assertThat(put(".", "x").statusCode()).isEqualTo(422);
    assertThat(put("../x", "x").statusCode()).isEqualTo(400);
    assertThat(put("d/f/g", "x").statusCode()).isEqualTo(409);
    assertThat(put("f", "x", "Content-Range", "bytes 0-0/2").statusCode()).isEqualTo(400);
    assertThat(api.send(api.request(environment + "/files/raw").PUT(noBody())).statusCode())
        .isEqualTo(422);
    Files.createSymbolicLink(workspace.resolve("link"), Path.of("/etc/passwd"));
    assertThat(get("link").statusCode()).isEqualTo(400);
    assertThat(put("link", "x").statusCode()).isEqualTo(400);
    assertThat(names()).containsExactly("d", "d/f", "link");
  }

  @Test
  void theQuotaHoldsWithAndWithoutALength() throws Exception {
    var known =
        api.send(
            raw("p/f").PUT(ofByteArray(new byte[(int) QUOTA + 1])).timeout(Duration.ofSeconds(60)));
    assertThat(known.statusCode()).isEqualTo(409);
    assertThat(RunningApi.json(known).path("limit").asText()).isEqualTo("max_disk_bytes");
    var chunked = api.send(raw("p/f").PUT(ofInputStream(() -> zeros(QUOTA + PIECE))));
    assertThat(chunked.statusCode()).isEqualTo(409);
    assertThat(RunningApi.json(chunked).path("limit").asText()).isEqualTo("max_disk_bytes");
    assertThat(names()).isEmpty();
    assertThat(api.send(raw("f").PUT(ofInputStream(() -> zeros(QUOTA / 2)))).statusCode())
        .isEqualTo(201);
  }

  @Test
  void aBrokenUploadLeavesNothing() throws Exception {
    try (var socket = new Socket(api.address.getAddress(), api.address.getPort())) {
      OutputStream out = socket.getOutputStream();
      out.write(
          ("PUT "
                  + environment
                  + "/files/raw?path=p/f HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                  + api.token
                  + "\r\nContent-Length: 10000000\r\n\r\n")
              .getBytes(StandardCharsets.US_ASCII));
      out.write(new byte[PIECE]);
      out.flush();
      await().until(() -> names().size() == 1);
    }
    await().atMost(Duration.ofSeconds(20)).until(() -> names().isEmpty());
  }

  @Test
  void anUploadInBrokenChunksIsRefused() throws Exception {
    try (var socket = new Socket(api.address.getAddress(), api.address.getPort())) {
      socket.setSoTimeout(20_000);
      String head =
          "PUT %s/files/raw?path=p/f HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
              .formatted(environment, api.token);
      String body = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnone\r\n";
      socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
      var answer = new BufferedReader(new InputStreamReader(socket.getInputStream()));
      assertThat(answer.readLine()).isEqualTo("HTTP/1.1 400 Bad Request");
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void aFileReplacedMeanwhileIsSentAsItWas() throws Exception {
    long size = 64L << 20;
    assertThat(api.send(raw("f").PUT(ofInputStream(() -> zeros(size)))).statusCode())
        .isEqualTo(201);
    var answer = api.client.send(raw("f").build(), HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      assertThat(body.readNBytes(PIECE)).hasSize(PIECE);
      assertThat(put("f", "new").statusCode()).isEqualTo(200);
      byte[] buffer = new byte[PIECE];
      long read = PIECE;
      for (int n = body.read(buffer); n > 0; n = body.read(buffer)) {
        for (int i = 0; i < n; i++) {
          assertThat(buffer[i] == 0).isTrue();
        }
        read += n;
      }
      assertThat(read).isEqualTo(size);
    }
    assertThat(get("f").body()).isEqualTo("new");
  }

  @Test
  void aLargeFileKeepsItsBytes() throws Exception {
    byte[] content = new byte[40 << 20];
    new Random(7).nextBytes(content);
    String sha =
        '"' + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)) + '"';
    var stored = api.send(raw("f").PUT(ofByteArray(content)));
    assertThat(header(stored, "ETag")).isEqualTo(sha);
    var read = api.client.send(raw("f").build(), HttpResponse.BodyHandlers.ofByteArray());
    assertThat(Arrays.equals(read.body(), content)).isTrue();
    // Both its tags are good for a precondition.
    assertThat(get("f", "If-None-Match", sha).statusCode()).isEqualTo(304);
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(header(api.send(raw("f").method("HEAD", noBody())), "ETag"))
                    .startsWith("\"s-"));
    String state = header(api.send(raw("f").method("HEAD", noBody())), "ETag");
    assertThat(put("f", "x", "If-Match", state).statusCode()).isEqualTo(200);
    assertThat(put("f", "y", "If-Match", state).statusCode()).isEqualTo(412);
  }

  private static InputStream zeros(long length) {
    return new InputStream() {
      private long left = length;

      @Override
      public int read() {
        return left-- > 0 ? 0 : -1;
      }

      @Override
      public int read(byte[] target, int offset, int wanted) {
        if (left <= 0) {
          return -1;
        }
        int given = (int) Math.min(left, wanted);
        Arrays.fill(target, offset, offset + given, (byte) 0);
        left -= given;
        return given;
      }
    };
  }
}
