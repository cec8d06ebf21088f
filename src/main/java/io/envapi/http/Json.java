package io.envapi.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializable;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.pekko.util.ByteString;

/** JSON as this interface reads and writes it. */
final class Json {

  /** Deeper bodies are refused: reading one must not take the stack of the thread that reads. */
  static final int MAX_DEPTH = 64;

  private static final int MAX_NUMBER_DIGITS = 400;
  private static final int MICROS = 6;

  /** RFC 8259, section 8.1: it may be passed over. */
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  // Decimals exactly as given, so that a whole number of seconds is not written with an exponent.
  private static final JsonNodeFactory NODES = new JsonNodeFactory(true);

  private static final ObjectMapper MAPPER = mapper();

  private Json() {}

  static ObjectNode object() {
    return NODES.objectNode();
  }

  static ArrayNode array() {
    return NODES.arrayNode();
  }

  static <T> ArrayNode array(List<T> values, Function<T, JsonNode> each) {
    ArrayNode array = NODES.arrayNode(values.size());
    values.forEach(value -> array.add(each.apply(value)));
    return array;
  }

  /** How a value is written. */
  @FunctionalInterface
  interface Writer<T> {
    void write(JsonGenerator json, T value) throws IOException;
  }

  /**
   * An array of many values, which are not made nodes first. It can be written and not looked at.
   */
  static <T> JsonNode written(List<T> values, Writer<T> each) {
    return NODES.pojoNode(
        new JsonSerializable.Base() {
          @Override
          public void serialize(JsonGenerator json, SerializerProvider provider)
              throws IOException {
            json.writeStartArray();
            for (T value : values) {
              each.write(json, value);
            }
            json.writeEndArray();
          }

          @Override
          public void serializeWithType(
              JsonGenerator json, SerializerProvider provider, TypeSerializer type)
              throws IOException {
            serialize(json, provider);
          }
        });
  }

  /** A value that is JSON already. It can be written and not looked at. */
  static JsonNode raw(String json) {
    return NODES.rawValueNode(new RawValue(json));
  }

  static ArrayNode texts(Iterable<String> values) {
    ArrayNode array = NODES.arrayNode();
    values.forEach(array::add);
    return array;
  }

  /**
   * @throws IOException when it is not UTF-8, or not one JSON value within the limits
   */
  static JsonNode parse(byte[] bytes) throws IOException {
    // The parser itself takes UTF-16 too, and bytes that are no UTF-8.
    int from = startsWithMark(bytes) ? MARK.length : 0;
    var text =
        new InputStreamReader(
            new ByteArrayInputStream(bytes, from, bytes.length - from),
            StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT));
    return MAPPER.readTree(text);
  }

  private static boolean startsWithMark(byte[] bytes) {
    return bytes.length >= MARK.length
        && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length);
  }

  static byte[] bytes(JsonNode node) {
    try {
      return MAPPER.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("not writable as JSON", e);
    }
  }

  /** Epoch seconds with a fraction. */
  static BigDecimal seconds(long epochMillis) {
    return BigDecimal.valueOf(epochMillis, 3);
  }

  /** Epoch seconds to the microsecond. */
  static BigDecimal ofMicros(long epochMicros) {
    return BigDecimal.valueOf(epochMicros, MICROS);
  }

  /** As {@link #seconds(long)}; null where there is none. */
  static JsonNode seconds(Optional<Long> epochMillis) {
    return epochMillis.<JsonNode>map(at -> NODES.numberNode(seconds(at))).orElse(NODES.nullNode());
  }

  static JsonNode number(Optional<? extends Number> value) {
    return value.<JsonNode>map(n -> NODES.numberNode(n.longValue())).orElse(NODES.nullNode());
  }

  /** Whole numbers without a fraction, the others with one. */
  static JsonNode exact(Number value) {
    return switch (value) {
      case Double _, Float _, BigDecimal _ -> NODES.numberNode(plain(value.doubleValue()));
      default -> NODES.numberNode(value.longValue());
    };
  }

  /** With a fraction and without an exponent, which not every reader of JSON takes. */
  private static BigDecimal plain(double value) {
    BigDecimal decimal = BigDecimal.valueOf(value);
    return decimal.setScale(Math.max(1, decimal.scale()));
  }

  /** As {@link #exact(Number)}; null where there is none. */
  static JsonNode exact(Optional<? extends Number> value) {
    return value.<JsonNode>map(Json::exact).orElse(NODES.nullNode());
  }

  static JsonNode text(Optional<String> value) {
    return value.<JsonNode>map(NODES::textNode).orElse(NODES.nullNode());
  }

  /** The bytes as text; each part that is no UTF-8 becomes one U+FFFD. */
  static String lossyText(ByteString bytes) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE)
          .decode(ByteBuffer.wrap(bytes.toArrayUnsafe()))
          .toString();
    } catch (CharacterCodingException e) {
      throw new IllegalStateException(e);
    }
  }

  static String base64(ByteString bytes) {
    return Base64.getEncoder().encodeToString(bytes.toArrayUnsafe());
  }

  private static ObjectMapper mapper() {
    // The body's own limit bounds the strings; a file in base64 is one string.
    StreamReadConstraints limits =
        StreamReadConstraints.builder()
            .maxNestingDepth(MAX_DEPTH)
            .maxNumberLength(MAX_NUMBER_DIGITS)
            .maxStringLength(Integer.MAX_VALUE)
            .build();
    return JsonMapper.builder(JsonFactory.builder().streamReadConstraints(limits).build())
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .nodeFactory(NODES)
        .build();
  }
}
