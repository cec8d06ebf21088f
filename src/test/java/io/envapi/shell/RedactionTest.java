package io.envapi.shell;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactionTest {

  private static final String SECRET = "s3cr3t/va+lue with 'odd' \"chars\" \\ é";
  private static final String MARK = "«redacted:svc»";

  private final Redaction redaction = new Redaction();

  private void secret(String service, String value) {
    redaction.add(service, value.getBytes(UTF_8));
  }

  private String feed(String text) {
    return redaction.feed(ByteString.fromString(text, UTF_8)).utf8String();
  }

  private String all(String text) {
    return feed(text) + redaction.flush().utf8String();
  }

  @Test
  void withoutSecretsAChunkPassesAsItIs() {
    var chunk = ByteString.fromString("anything");
    assertThat(redaction.feed(chunk)).isSameAs(chunk);
    assertThat(redaction.flush().isEmpty()).isTrue();
  }

  @Test
  void aChunkWithoutAnythingSecretPassesAsItIs() {
    secret("svc", "s3cr3t-value");
    var chunk = ByteString.fromString("nothing here.\n");
    assertThat(redaction.feed(chunk)).isSameAs(chunk);
  }

  @Test
  void everyOccurrenceIsReplaced() {
    secret("svc", "s3cr3t");
    assertThat(all("a s3cr3t, s3cr3ts3cr3t")).isEqualTo("a " + MARK + ", " + MARK + MARK);
  }

  @Test
  void aSecretInPiecesIsOneMarkAndOnlyThePossiblePrefixWaits() {
    secret("svc", "s3cr3t-value");
    assertThat(feed("a:s3c")).isEqualTo("a:");
    assertThat(feed("r3t-va")).isEmpty();
    assertThat(feed("lue:z\n")).isEqualTo(MARK + ":z\n");
  }

  @Test
  void aMarkAppearsWithTheLastByteOfTheSecret() {
    secret("svc", "s3cr3t-value");
    assertThat(feed("s3cr3t-value")).isEqualTo(MARK);
    assertThat(redaction.flush().isEmpty()).isTrue();
  }

  @Test
  void aSecretThatEndsAsItBeginsIsMarkedAtOnceToo() {
    secret("svc", "sXYZs");
    assertThat(feed("sXYZs")).isEqualTo(MARK);
    assertThat(feed("XYZs.")).as("the overlapping one belongs to the same mark").isEqualTo(".");
  }

  @Test
  void promptsAppearAtOnce() {
    secret("svc", "s3cr3t-value");
    assertThat(feed("Password: ")).isEqualTo("Password: ");
    assertThat(feed("> ")).isEqualTo("> ");
  }

  @Test
  void flushReleasesAnOpenPrefix() {
    secret("svc", "s3cr3t-value");
    assertThat(feed("x s3cr3t-v")).isEqualTo("x ");
    assertThat(redaction.flush().utf8String()).isEqualTo("s3cr3t-v");
    assertThat(feed("alue")).isEqualTo("alue");
  }

  @Test
  void aFailedPrefixComesOutWhole() {
    secret("svc", "s3cr3t-value");
    assertThat(feed("s3cr3t-v")).isEmpty();
    assertThat(feed("!")).isEqualTo("s3cr3t-v!");
  }

  @Test
  void theWholeHeaderIsOneMarkAndSoIsItsToken() {
    secret("svc", "Bearer s3cr3t-value");
    secret("svc", "s3cr3t-value");
    assertThat(all("Bearer s3cr3t-value\ns3cr3t-value\nBearer x"))
        .isEqualTo(MARK + "\n" + MARK + "\nBearer x");
  }

  @Test
  void eachMarkNamesItsService() {
    secret("one", "first-value");
    secret("two", "second-value");
    assertThat(all("second-value first-value")).isEqualTo("«redacted:two» «redacted:one»");
  }

  @Test
  void whatOverlapsIsOneMarkAndNothingOfEitherShows() {
    secret("one", "abcdef");
    secret("two", "defghi");
    secret("three", "bcde");
    assertThat(all("-abcdefghi-")).isEqualTo("-«redacted:one»-");
  }

  @Test
  void shortMatchesInsideALongPrefixThatFailsAreStillMarked() {
    secret("long", "XaaaaYbbbbZ");
    secret("a", "aaaa");
    secret("b", "bbbb");
    assertThat(feed("XaaaaYbbbb")).isEmpty();
    assertThat(feed("!")).isEqualTo("X«redacted:a»Y«redacted:b»!");
    assertThat(all("XaaaaYbbbbZ")).isEqualTo("«redacted:long»");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "abc", "é€x"})
  void tooShortAValueIsLeftAlone(String value) {
    secret("svc", value);
    assertThat(all("abc abc é€x")).isEqualTo("abc abc é€x");
  }

  @ParameterizedTest
  @ValueSource(strings = {".*.*", "$1$1", "[a-z]", "«redacted:svc»", "    ", "\\E.\\Q"})
  void valuesWithAMeaningElsewhereAreJustBytes(String value) {
    secret("svc", value);
    assertThat(all("x" + value + "y")).isEqualTo("x" + MARK + "y");
  }

  @Test
  void aSecretAddedLaterCountsAtOnceAndTheOldOneStays() {
    secret("old", "old-value-1");
    assertThat(feed("s3cr old-va")).isEqualTo("s3cr ");
    secret("new", "old-vault");
    assertThat(feed("ult old-value-1")).isEqualTo("«redacted:new» «redacted:old»");
  }

  @Test
  void addingDuringAnOverlapShowsNothingOfAMarkedSecret() {
    secret("svc", "abXab");
    assertThat(feed("abXab")).isEqualTo(MARK);
    secret("other", "quite-another");
    assertThat(feed("Xab.")).isEqualTo(".");
  }

  @Test
  void bytesThatAreNoTextAreRedactedToo() {
    byte[] binary = {0, (byte) 0xff, 10, (byte) 0x80, 7};
    redaction.add("svc", binary);
    var chunk = ByteString.fromArray(binary).concat(ByteString.fromString("!"));
    assertThat(redaction.feed(chunk).utf8String()).isEqualTo(MARK + "!");
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "2", "3", "4"})
  void base64AtAnyOffsetShowsAtMostTheSharedCharacters(int before) {
    secret("svc", SECRET);
    byte[] text = ("x".repeat(before) + SECRET + "yz").getBytes(UTF_8);
    for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder())) {
      String shown = all(encoder.encodeToString(text));
      assertThat(shown).containsOnlyOnce(MARK);
      // Three unknown bytes and padding at most on either side, and a sextet shared at each.
      assertThat(shown.replace(MARK, "").length()).isLessThanOrEqualTo(4 * 2 + 6);
    }
  }

  @Test
  void encodingsOfTheWholeSecretAreOneMark() {
    secret("svc", SECRET);
    byte[] bytes = SECRET.getBytes(UTF_8);
    String long76 = "long-" + "0123456789".repeat(12);
    secret("svc", long76);
    for (String encoded :
        List.of(
            Base64.getEncoder().encodeToString(bytes),
            Base64.getUrlEncoder().withoutPadding().encodeToString(bytes),
            Base64.getMimeEncoder(76, new byte[] {'\n'}).encodeToString(long76.getBytes(UTF_8)),
            HexFormat.of().formatHex(bytes),
            HexFormat.of().withUpperCase().formatHex(bytes),
            URLEncoder.encode(SECRET, UTF_8),
            URLEncoder.encode(SECRET, UTF_8).replace("+", "%20"),
            "s3cr3t/va+lue with 'odd' \\\"chars\\\" \\\\ é",
            "s3cr3t/va+lue with 'odd' \\\"chars\\\" \\\\ \\u00e9",
            "s3cr3t/va+lue with '\\''odd'\\'' \"chars\" \\ é")) {
      assertThat(all("<" + encoded + ">")).as(encoded).isEqualTo("<" + MARK + ">");
    }
  }

  @Test
  void eachLineOfASecretOfSeveralIsSecretToo() {
    secret("svc", "-----BEGIN KEY-----\nMIIEvQIBADANBgkq'h\nshort\nkiG9w0BAQEFAASC\n");
    assertThat(all("-----BEGIN KEY-----\r\nMIIEvQIBADANBgkq'h\r\n"))
        .isEqualTo(MARK + "\r\n" + MARK + "\r\n");
    assertThat(all("7:kiG9w0BAQEFAASC")).isEqualTo("7:" + MARK);
    assertThat(all("'MIIEvQIBADANBgkq'\\''h'$'\\n'")).isEqualTo("'" + MARK + "'$'\\n'");
    assertThat(all("a short word")).isEqualTo("a short word");
  }

  @Test
  void soIsWhatBashPrintsOfOne() {
    secret("svc", "first'one\nsecond\\\tand\u0001\u001bmore");
    assertThat(all("X=$'first\\'one\\nsecond\\\\\\tand\\001\\Emore'"))
        .isEqualTo("X=$'" + MARK + "'");
  }

  @Test
  void aHostileMixOfLongAndShortIsLinear() {
    secret("long", "a".repeat(8_000) + "b");
    secret("short", "aaaa");
    var chunk = ByteString.fromArray("a".repeat(1 << 20).getBytes(UTF_8));
    long start = System.nanoTime();
    var shown = redaction.feed(chunk).concat(redaction.flush());
    // A scan that starts over after each mark takes minutes here.
    assertThat(System.nanoTime() - start).isLessThan(10_000_000_000L);
    assertThat(shown.utf8String()).isEqualTo("«redacted:long»".replace("long", "short"));
  }
}
