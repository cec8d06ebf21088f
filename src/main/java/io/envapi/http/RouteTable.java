package io.envapi.http;

import io.envapi.keyring.Caller;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.CompletionStage;

/**
 * Which path and method leads where. A path is matched as it was sent, segment by segment: what has
 * an empty segment or a slash at its end is another path, and an encoded slash separates nothing.
 */
final class RouteTable {

  /** What is reached by a path and a method. */
  sealed interface Endpoint {}

  /** For everybody. */
  @FunctionalInterface
  non-sealed interface Open extends Endpoint {
    CompletionStage<Answer> answer(Exchange exchange);
  }

  /** For whoever has a token. */
  @FunctionalInterface
  non-sealed interface ForCaller extends Endpoint {
    CompletionStage<Answer> answer(Exchange exchange, Caller caller);
  }

  /**
   * A route that changes something, and does no harm when it is carried out twice. PUT and DELETE
   * are so by themselves (RFC 9110, 9.2.2).
   */
  record Repeatable(ForCaller endpoint) implements ForCaller {
    @Override
    public CompletionStage<Answer> answer(Exchange exchange, Caller caller) {
      return endpoint.answer(exchange, caller);
    }
  }

  /**
   * For operators.
   *
   * @param denied for everybody else
   */
  record ForOperator(ForCaller endpoint, ForCaller denied) implements Endpoint {

    ForOperator(ForCaller endpoint) {
      this(endpoint, (_, _) -> Problems.forbidden().now());
    }
  }

  /** Where a request leads. */
  sealed interface Match {}

  /**
   * @param template the path as it was added
   * @param parameters the path's variable segments by name, decoded
   */
  record Found(String template, Endpoint endpoint, Map<String, String> parameters)
      implements Match {}

  /**
   * @param open whether those that are allowed need no token
   */
  record WrongMethod(SequencedSet<String> allowed, boolean open) implements Match {}

  record Nowhere() implements Match {}

  /** One way in. */
  record Entry(String method, String template, Endpoint endpoint) {}

  /** One path while its methods are added. */
  static final class Path {

    private final String template;
    private final Node node;

    private Path(String template, Node node) {
      this.template = template;
      this.node = node;
    }

    Path get(ForCaller endpoint) {
      return add("GET", endpoint);
    }

    Path post(ForCaller endpoint) {
      return add("POST", endpoint);
    }

    Path put(ForCaller endpoint) {
      return add("PUT", endpoint);
    }

    Path delete(ForCaller endpoint) {
      return add("DELETE", endpoint);
    }

    Path getOpen(Open endpoint) {
      return add("GET", endpoint);
    }

    Path add(String method, Endpoint endpoint) {
      if (node.methods.putIfAbsent(method, new Entry(method, template, endpoint)) != null) {
        throw new IllegalStateException("two endpoints for one method");
      }
      return this;
    }
  }

  private static final class Node {
    private final Map<String, Node> literals = new HashMap<>();
    private Optional<Node> variable = Optional.empty();
    private String variableName = "";
    private final SequencedMap<String, Entry> methods = new LinkedHashMap<>();
  }

  private final Node root = new Node();
  private final List<Node> added = new ArrayList<>();

  /** Adds a path; a segment in braces stands for any one that is not empty. */
  Path on(String template) {
    Node node = root;
    for (String segment : segments(template)) {
      node = segment.startsWith("{") ? variable(node, segment) : literal(node, segment);
    }
    added.add(node);
    return new Path(template, node);
  }

  /** Every way in, in the order in which the paths were added. */
  List<Entry> entries() {
    return added.stream().distinct().flatMap(node -> node.methods.values().stream()).toList();
  }

  /**
   * @param path as it stands in the request line, without the query
   */
  Match find(String method, String path) {
    if (!path.startsWith("/")) {
      return new Nowhere();
    }
    Node node = root;
    Map<String, String> parameters = new HashMap<>();
    for (String segment : segments(path)) {
      Node literal = node.literals.get(segment);
      Optional<Node> next = literal == null ? node.variable : Optional.of(literal);
      Optional<String> decoded = Query.decode(segment).filter(text -> !text.isEmpty());
      if (next.isEmpty() || decoded.isEmpty()) {
        return new Nowhere();
      }
      if (literal == null) {
        parameters.put(node.variableName, decoded.get());
      }
      node = next.get();
    }
    return node.methods.isEmpty() ? new Nowhere() : choose(node, method, parameters);
  }

  private static Match choose(Node node, String method, Map<String, String> parameters) {
    Entry entry = node.methods.get(method.equals("HEAD") ? "GET" : method);
    if (entry != null) {
      return new Found(entry.template(), entry.endpoint(), parameters);
    }
    var allowed = new LinkedHashSet<String>();
    for (String each : node.methods.keySet()) {
      allowed.add(each);
      if (each.equals("GET")) {
        allowed.add("HEAD");
      }
    }
    boolean open = node.methods.values().stream().allMatch(e -> e.endpoint() instanceof Open);
    return new WrongMethod(allowed, open);
  }

  private static Node literal(Node node, String segment) {
    return node.literals.computeIfAbsent(segment, _ -> new Node());
  }

  private static Node variable(Node node, String segment) {
    String name = segment.substring(1, segment.length() - 1);
    if (node.variable.isPresent() && !node.variableName.equals(name)) {
      throw new IllegalStateException("two names for one segment");
    }
    node.variableName = name;
    Node next = node.variable.orElseGet(Node::new);
    node.variable = Optional.of(next);
    return next;
  }

  private static String[] segments(String path) {
    return path.substring(1).split("/", -1);
  }
}
