package io.envapi;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.files.FileBytes;
import io.envapi.id.AccountId;
import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.id.ShellId;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.util.ByteString;

/**
 * Values of a type, made from its components: of a record as many that each value of each component
 * is in one of them, of a sealed interface those of all its records.
 */
final class Samples {

  private static final Map<Class<?>, List<?>> KNOWN =
      Map.ofEntries(
          Map.entry(String.class, List.of("text \u00e9\0", "")),
          Map.entry(long.class, List.of(1L << 40, 0L)),
          Map.entry(Long.class, List.of(1L << 40)),
          Map.entry(int.class, List.of(42)),
          Map.entry(Integer.class, List.of(42)),
          Map.entry(boolean.class, List.of(true, false)),
          Map.entry(double.class, List.of(1.5, 3.0)),
          Map.entry(Double.class, List.of(1.5)),
          Map.entry(Number.class, List.of(7, 2.5)),
          Map.entry(OptionalLong.class, List.of(OptionalLong.of(7), OptionalLong.empty())),
          Map.entry(
              ByteString.class,
              List.of(
                  ByteString.fromArray(new byte[] {0, -1, 10}).concat(ByteString.fromString("x")),
                  ByteString.emptyByteString())),
          Map.entry(FileBytes.class, List.of(new FileBytes(new byte[] {0, -1, 10}))),
          Map.entry(AccountId.class, List.of(new AccountId("alice|sub"))),
          Map.entry(HostId.class, List.of(new HostId("host_0a1b2c3d4e5f"))),
          Map.entry(EnvironmentId.class, List.of(new EnvironmentId("env_0a1b2c3d4e5f"))),
          Map.entry(ShellId.class, List.of(new ShellId("sh_0a1b2c3d4e5f_1"))),
          Map.entry(CommandId.class, List.of(new CommandId("cmd_0a1b2c3d4e5f_1_2"))),
          Map.entry(
              ObjectNode.class, List.of(JsonNodeFactory.instance.objectNode().put("a", "b"))));

  private final ActorRef<?> actor;
  private final Deque<Class<?>> being = new ArrayDeque<>();

  /**
   * @param actor stands in every place of a reference to one
   */
  Samples(ActorRef<?> actor) {
    this.actor = actor;
  }

  List<?> of(Type type) {
    return switch (type) {
      case WildcardType wildcard -> of(wildcard.getUpperBounds()[0]);
      case ParameterizedType generic -> of(generic);
      case Class<?> plain -> of(plain);
      default -> throw new IllegalArgumentException(type.toString());
    };
  }

  private List<?> of(ParameterizedType type) {
    Type[] of = type.getActualTypeArguments();
    Class<?> raw = (Class<?>) type.getRawType();
    if (raw == ActorRef.class) {
      return List.of(actor);
    }
    if (raw == Optional.class) {
      var all = new ArrayList<Object>(of(of[0]).stream().map(Optional::of).toList());
      all.add(Optional.empty());
      return all;
    }
    if (raw == List.class || raw == Collection.class) {
      return List.of(List.copyOf(of(of[0])), List.of());
    }
    if (raw == Map.class) {
      List<?> values = of(of[1]);
      return values.isEmpty()
          ? List.of(Map.of())
          : List.of(Map.of(of(of[0]).getFirst(), values.getFirst()), Map.of());
    }
    throw new IllegalArgumentException(type.toString());
  }

  private List<?> of(Class<?> type) {
    if (KNOWN.containsKey(type)) {
      return KNOWN.get(type);
    }
    if (type.isEnum()) {
      return Arrays.asList(type.getEnumConstants());
    }
    if (type.isSealed()) {
      return Arrays.stream(type.getPermittedSubclasses())
          .filter(each -> !being.contains(each))
          .<Object>flatMap(each -> of(each).stream())
          .toList();
    }
    if (type.isRecord()) {
      return records(type);
    }
    throw new IllegalArgumentException("no sample of " + type);
  }

  private List<?> records(Class<?> type) {
    being.push(type);
    List<? extends List<?>> values =
        Arrays.stream(type.getRecordComponents())
            .map(RecordComponent::getGenericType)
            .map(this::of)
            .toList();
    being.pop();
    int count = values.stream().mapToInt(List::size).max().orElse(1);
    return IntStream.range(0, count)
        .<Object>mapToObj(
            i -> make(type, values.stream().map(all -> all.get(i % all.size())).toArray()))
        .toList();
  }

  private static Object make(Class<?> type, Object[] values) {
    try {
      Class<?>[] types =
          Arrays.stream(type.getRecordComponents())
              .map(RecordComponent::getType)
              .toArray(Class[]::new);
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      if (!Modifier.isPublic(constructor.getModifiers())) {
        constructor.setAccessible(true);
      }
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no sample of " + type, e);
    }
  }
}
