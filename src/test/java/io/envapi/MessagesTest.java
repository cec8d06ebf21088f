package io.envapi;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.typesafe.config.ConfigFactory;
import io.envapi.failure.Failure;
import io.envapi.failure.Unavailable;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.apache.pekko.actor.Status;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever one node may send to another arrives as it was sent. */
class MessagesTest {

  private static final ActorTestKit NODE =
      ActorTestKit.create(
          ConfigFactory.parseString("pekko.actor.allow-java-serialization = off")
              .withFallback(ConfigFactory.load()));

  private final Samples samples = new Samples(NODE.createTestProbe().ref());

  @AfterAll
  static void end() {
    NODE.shutdownTestKit();
  }

  /** Without what actors tell themselves. */
  static Stream<Class<?>> messages() {
    return new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.envapi")
            .stream()
            .filter(each -> each.isAssignableTo(CborSerializable.class))
            .filter(each -> each.getAllRawInterfaces().stream().noneMatch(MessagesTest::isInternal))
            .map(MessagesTest::reflected)
            .filter(Class::isRecord)
            .filter(each -> !Modifier.isPrivate(each.getModifiers()));
  }

  private static boolean isInternal(JavaClass type) {
    return type.getSimpleName().equals("Internal");
  }

  private static Class<?> reflected(JavaClass type) {
    try {
      return Class.forName(type.getName());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theMessagesWereFound() {
    assertThat(messages().count()).isGreaterThan(100);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void arrivesAsItWasSent(Class<?> type) {
    for (Object message : samples.of(type)) {
      NODE.serializationTestKit().verifySerialization(message, true);
    }
  }

  @Test
  void soDoesTheFailureOfAnAsk() {
    var failed = new Status.Failure(new Unavailable(new Failure.JournalUnavailable(2)));
    Status.Failure arrived = NODE.serializationTestKit().verifySerialization(failed, false);
    assertThat(arrived.cause())
        .isInstanceOfSatisfying(
            Unavailable.class,
            cause -> assertThat(cause.failure()).isEqualTo(new Failure.JournalUnavailable(2)));
  }
}
