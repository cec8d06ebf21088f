package io.envapi.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.id.AccountId;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * Something somebody did.
 *
 * @param at epoch ms
 * @param action as {@code shell.exec}
 * @param account who did it, or whose it is when the service did it by itself
 * @param members what belongs to the action, in the order in which it is shown; no secret
 */
public record AuditEvent(long at, String action, AccountId account, ObjectNode members) {

  /** Characters of a text that are kept: nobody shall make a line long. */
  private static final int TEXT_CHARS = 512;

  /** Texts of a list that are kept. */
  private static final int TEXTS = 10;

  // Decimals exactly as given, so that a whole number of seconds is not written with an exponent.
  private static final JsonNodeFactory NODES = new JsonNodeFactory(true);

  public AuditEvent {
    members = members.deepCopy();
  }

  /** An event of now. */
  public static AuditEvent of(String action, AccountId account) {
    return new AuditEvent(System.currentTimeMillis(), action, account, NODES.objectNode());
  }

  /** With the beginning of a text. */
  public AuditEvent with(String member, String value) {
    return with(member, NODES.textNode(cut(value)));
  }

  /** With the first ones of a list. */
  public AuditEvent with(String member, List<String> values) {
    ArrayNode texts = NODES.arrayNode();
    values.stream().limit(TEXTS).map(AuditEvent::cut).forEach(texts::add);
    return with(member, texts);
  }

  public AuditEvent with(String member, long value) {
    return with(member, NODES.numberNode(value));
  }

  public AuditEvent with(String member, boolean value) {
    return with(member, NODES.booleanNode(value));
  }

  public AuditEvent with(String member, JsonNode value) {
    ObjectNode all = members.deepCopy();
    all.set(member, value);
    return new AuditEvent(at, action, account, all);
  }

  private static String cut(String text) {
    boolean fits = text.codePointCount(0, text.length()) <= TEXT_CHARS;
    return fits ? text : text.substring(0, text.offsetByCodePoints(0, TEXT_CHARS));
  }

  /**
   * As one object: {@code ts} in epoch seconds, {@code action}, {@code account_id}, the members.
   */
  public ObjectNode json() {
    ObjectNode json =
        NODES
            .objectNode()
            .put("ts", BigDecimal.valueOf(at, 3))
            .put("action", action)
            .put("account_id", account.value());
    json.setAll(members);
    return json;
  }

  /** What {@link #json} wrote; empty for anything else. */
  static Optional<AuditEvent> read(JsonNode json) {
    boolean complete =
        json.path("ts").isNumber()
            && json.path("action").isTextual()
            && json.path("account_id").isTextual()
            && !json.path("account_id").textValue().isEmpty();
    if (!complete) {
      return Optional.empty();
    }
    ObjectNode members = json.deepCopy();
    long at = members.remove("ts").decimalValue().movePointRight(3).longValue();
    String action = members.remove("action").textValue();
    var account = new AccountId(members.remove("account_id").textValue());
    return Optional.of(new AuditEvent(at, action, account, members));
  }
}
