package io.envapi

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import io.envapi.account.{AccountEvent, EnvironmentSpec}
import io.envapi.environment.{EnvironmentEvent, EnvironmentState}
import io.envapi.host.HostEvent
import io.envapi.id.{AccountId, CommandId, EnvironmentId, HostId, ShellId}
import io.envapi.idempotency.{KeyEvent, StoredAnswer}
import io.envapi.process.ProcessIdentity
import io.envapi.shell.{CommandRecord, ShellEnd, ShellEvent, ShellIdentity, ShellView}
import org.apache.pekko.serialization.{SerializationExtension, Serializers}

import java.util.{List => JList, Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** How events stand in the journal. A golden file is never changed, only added to. */
class EventsSpec extends ActorBehaviour {

  private val json = new ObjectMapper()
  private lazy val serialization = SerializationExtension(system)

  private val environment = new EnvironmentId("env_0123456789ab")
  private val account = new AccountId("alice")
  private val shell = ShellId.of(environment, 1)
  private val command = CommandId.of(shell, 2)
  private val wanted = new EnvironmentSpec(
    "personal",
    "build",
    JMap.of("team", "red"),
    JList.of("github"),
    true,
    new EnvironmentSpec.LimitOverrides(
      Optional.of(Long.box(5000000000L)),
      Optional.empty[java.lang.Long],
      Optional.of(Long.box(7)),
      Optional.empty[java.lang.Long]))
  private val chosen = new EnvironmentSpec(
    "work",
    "chosen",
    JMap.of(),
    JList.of(),
    false,
    EnvironmentSpec.LimitOverrides.NONE,
    Optional.of(
      new EnvironmentSpec.Choices(
        Optional.of(Double.box(7200)),
        Optional.of(Double.box(300.5)),
        Optional.of(Long.box(2)),
        Optional.empty[String])))
  private val identity = new ShellIdentity(
    shell,
    new ProcessIdentity(100, 4000, "boot"),
    new ProcessIdentity(101, 4001, "boot"),
    100,
    "src",
    true,
    1700000000000L)

  private val samples: Map[String, (Class[_], Seq[AnyRef])] = Map(
    "account" -> ((
      classOf[AccountEvent],
      Seq(
        new AccountEvent.EnvironmentReserved(environment, new HostId("h1"), "personal", 1700000000000L),
        new AccountEvent.EnvironmentPlaced(environment),
        new AccountEvent.EnvironmentReleased(environment),
        new AccountEvent.EnvironmentArchived(environment),
        new AccountEvent.EnvironmentRevived(environment),
        new AccountEvent.QuotasOverridden(JMap.of("shell_idle_ttl_seconds", 1.5), 1700000000000L)))),
    "host" -> ((
      classOf[HostEvent],
      Seq(
        new HostEvent.EnvironmentPlaced(environment, account, "personal", 61000, 1700000000000L),
        new HostEvent.EnvironmentRemoved(environment)))),
    "environment" -> ((
      classOf[EnvironmentEvent],
      Seq(
        new EnvironmentEvent.Created(account, wanted, 61000, 1700000000000L),
        new EnvironmentEvent.ShellOpened(identity, Optional.of(identity.process)),
        new EnvironmentEvent.ShellEnded(
          shell,
          new ShellEnd(ShellView.State.DEAD, "exit:3", 1700000000001L, 42, 2)),
        new EnvironmentEvent.EmptyingBegun(EnvironmentState.Emptying.FOR_RESET, 1700000000000L),
        new EnvironmentEvent.Reset(1700000000000L),
        new EnvironmentEvent.Archived(1700000000000L),
        new EnvironmentEvent.Deleted(1700000000000L),
        new EnvironmentEvent.CommandStarted(command, "echo hi", true, 10, 1700000000000L),
        new EnvironmentEvent.CommandFinished(
          command,
          CommandRecord.State.EXITED,
          CommandRecord.Reason.SIGNALED,
          Optional.of(Int.box(137)),
          Optional.of(Int.box(9)),
          13,
          1700000000001L),
        new EnvironmentEvent.Reconciled(JList.of(shell), 2, 1700000000000L),
        new EnvironmentEvent.Created(account, chosen, 61001, 1700000000000L)))),
    "key" -> ((
      classOf[KeyEvent],
      Seq(
        new KeyEvent.KeyClaimed("0a1b", "2c3d", "7f-1", environment, 1700000000000L),
        new KeyEvent.KeyAnswered(
          "0a1b",
          new StoredAnswer(
            201,
            "application/json",
            JList.of(new StoredAnswer.Header("ETag", "\"x\"")),
            Optional.of("{\"a\":1}"))),
        new KeyEvent.KeyReleased("0a1b"),
        new KeyEvent.KeyInterrupted("0a1b")))),
    "shell" -> ((
      classOf[ShellEvent],
      Seq(
        new ShellEvent.CommandStarted(
          command,
          "echo hi",
          1700000000000L,
          10,
          Optional.of(Long.box(60000)),
          JList.of("github"),
          JList.of("aws")),
        new ShellEvent.CommandFinished(
          command,
          CommandRecord.State.EXITED,
          CommandRecord.Reason.SIGNALED,
          Optional.of(Int.box(137)),
          Optional.of(Int.box(9)),
          1700000000001L,
          13,
          3,
          false)))))

  private def golden(name: String): Seq[JsonNode] = {
    val file = getClass.getResourceAsStream(s"/events/$name.json")
    try json.readTree(file).elements.asScala.toSeq
    finally file.close()
  }

  samples.foreach { case (name, (kind, events)) =>
    s"The events of $name" should {

      "all be among the golden ones" in {
        events.map(_.getClass).toSet[Class[_]] shouldBe kind.getPermittedSubclasses.toSet[Class[_]]
        golden(name) should have size events.size
      }

      "be written as in the golden file" in {
        events.zip(golden(name)).foreach { case (event, expected) =>
          json.readTree(serialization.serialize(event).get) shouldBe expected
        }
      }

      "be written without a class name" in {
        events.foreach { event =>
          val serializer = serialization.findSerializerFor(event)
          Serializers.manifestFor(serializer, event) shouldBe ""
          new String(serializer.toBinary(event)) should not include "io.envapi"
        }
      }

      "be read from the golden file" in {
        events.zip(golden(name)).foreach { case (expected, stored) =>
          val id = serialization.findSerializerFor(expected).identifier
          serialization.deserialize(json.writeValueAsBytes(stored), id, "").get shouldBe expected
        }
      }
    }
  }
}
