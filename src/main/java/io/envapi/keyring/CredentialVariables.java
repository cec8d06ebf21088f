package io.envapi.keyring;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a credential is spelled as environment variables: {@code SERVICE_<HEADER>} and {@code
 * SERVICE_<PARAM>} with the whole value, and {@code SERVICE_TOKEN} with what a program most likely
 * wants.
 */
final class CredentialVariables {

  private static final Pattern SCHEME_AND_REST = Pattern.compile("(?s)\\S+\\s+(\\S.*)");

  private CredentialVariables() {}

  static SequencedMap<String, Secret> of(
      String service, Map<String, String> headers, Map<String, String> queryParams) {
    String prefix = spelled(service);
    // A name must not begin with a digit, or the shell takes the assignment for a command.
    if (Character.isDigit(prefix.charAt(0))) {
      prefix = "_" + prefix;
    }
    var variables = new LinkedHashMap<String, Secret>();
    for (Map<String, String> values : List.of(headers, queryParams)) {
      for (var each : values.entrySet()) {
        variables.putIfAbsent(prefix + "_" + spelled(each.getKey()), Secret.of(each.getValue()));
      }
    }
    Optional<String> token = token(headers, queryParams);
    if (token.isPresent()) {
      variables.put(prefix + "_TOKEN", Secret.of(token.get()));
    }
    return variables;
  }

  private static Optional<String> token(
      Map<String, String> headers, Map<String, String> queryParams) {
    for (var each : headers.entrySet()) {
      if (each.getKey().equalsIgnoreCase("Authorization")) {
        Matcher matcher = SCHEME_AND_REST.matcher(each.getValue());
        return Optional.of(matcher.matches() ? matcher.group(1) : each.getValue());
      }
    }
    if (headers.size() + queryParams.size() != 1) {
      return Optional.empty();
    }
    var only = headers.isEmpty() ? queryParams : headers;
    return Optional.of(only.values().iterator().next());
  }

  private static String spelled(String name) {
    var spelled = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= 'a' && c <= 'z') {
        spelled.append((char) (c - 'a' + 'A'));
      } else {
        spelled.append((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_');
      }
    }
    return spelled.toString();
  }
}
