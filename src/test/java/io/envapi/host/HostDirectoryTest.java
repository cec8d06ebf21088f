package io.envapi.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envapi.failure.Unavailable;
import io.envapi.id.HostId;
import io.envapi.sandbox.Layers;
import io.envapi.sandbox.SandboxTier;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Which hosts are there, which one is next, and what becomes of requests to a lost one. */
class HostDirectoryTest {

  private static final ActorTestKit ACTORS = ActorTestKit.create();
  private static final HostId OWN = new HostId("host_00000000000a");
  private static final HostId OTHER = new HostId("host_00000000000b");

  private final ActorRef<Host.Command> own = host();
  private final ActorRef<Host.Command> other = host();
  private final HostDirectory directory =
      new HostDirectory(
          OWN,
          own,
          ACTORS.createTestProbe(AuditReader.Read.class).ref(),
          ACTORS.spawn(HostDirectory.refusing()));

  @AfterAll
  static void end() {
    ACTORS.shutdownTestKit();
  }

  private static ActorRef<Host.Command> host() {
    return ACTORS.createTestProbe(Host.Command.class).ref();
  }

  private static Host.Description description(HostId id, long environments, long shells) {
    return new Host.Description(
        id,
        SandboxTier.DIRECTORY,
        new Layers("none", false, false, false),
        environments,
        shells,
        0);
  }

  @Test
  void oneThatIsGoneIsAwayUntilItIsBack() {
    assertThat(directory.find(OTHER)).isEmpty();
    assertThat(directory.away()).isEmpty();
    directory.hosts(Map.of(OWN, own, OTHER, other));
    assertThat(directory.find(OTHER)).contains(other);
    directory.hosts(Map.of());
    assertThat(directory.find(OTHER)).isEmpty();
    assertThat(directory.away()).containsExactly(OTHER);
    assertThat(directory.find(OWN)).contains(own);
    ActorRef<Host.Command> again = host();
    directory.hosts(Map.of(OTHER, again));
    assertThat(directory.find(OTHER)).contains(again);
    assertThat(directory.away()).isEmpty();
  }

  @Test
  void whatALostOneWasAskedFails() {
    directory.hosts(Map.of(OTHER, other));
    var never = new CompletableFuture<String>();
    var lost = directory.ask(OTHER, _ -> never).orElseThrow().toCompletableFuture();
    var answered =
        directory
            .ask(OTHER, _ -> CompletableFuture.completedFuture("answer"))
            .orElseThrow()
            .toCompletableFuture();
    var local = directory.ask(OWN, _ -> never).orElseThrow().toCompletableFuture();
    assertThat(lost).isNotDone();

    directory.hosts(Map.of());

    assertThatThrownBy(lost::join).hasCauseInstanceOf(Unavailable.class);
    assertThat(answered).isCompletedWithValue("answer");
    assertThat(local).isNotDone();
    assertThat(directory.ask(OTHER, _ -> never)).isEmpty();
  }

  @Test
  void whatItWasAskedBeforeItCameBackElsewhereFails() {
    directory.hosts(Map.of(OTHER, other));
    var lost =
        directory.ask(OTHER, _ -> new CompletableFuture<>()).orElseThrow().toCompletableFuture();
    directory.hosts(Map.of(OTHER, host()));
    assertThatThrownBy(lost::join).hasCauseInstanceOf(Unavailable.class);
  }

  @Test
  void theLeastUsedOfThoseThatAnswerIsNext() {
    assertThat(directory.choose()).isEqualTo(OWN);
    directory.hosts(Map.of(OTHER, other));
    assertThat(directory.choose()).as("the other has told nothing yet").isEqualTo(OWN);
    directory.told(description(OWN, 4, 1));
    directory.told(description(OTHER, 1, 1));
    assertThat(Stream.generate(directory::choose).limit(5))
        .containsExactlyInAnyOrder(OTHER, OTHER, OTHER, OTHER, OWN);
    directory.hosts(Map.of());
    assertThat(Stream.generate(directory::choose).limit(5)).containsOnly(OWN);
  }
}
