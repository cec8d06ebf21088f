package io.envapi.environment

import io.envapi.ActorBehaviour
import io.envapi.account.Account
import io.envapi.failure.Failure
import io.envapi.linux.{ExitStatus, Run}
import io.envapi.process.ProcessIdentity
import io.envapi.shell.{CommandRecord, ShellView, TerminalSize}

import org.apache.pekko.actor.typed.ActorRef

import java.nio.file.{Files, Path}
import java.util.{Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** What another actor, another service and a broken journal leave of an environment. */
class EnvironmentRecoverySpec extends ActorBehaviour with LiveEnvironments {

  "Another actor for an environment" should {

    "keep the live shells" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "x=5")
      live.replaceActor()
      live.output(shell, "echo $x") shouldBe "5\n"
      live.open().id.number shouldBe 2
    }

    "keep the live shells when the journal failed" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "x=5")
      // The command is told to the environment after it is answered.
      eventually(events(live.persistenceId) should have size 4)
      journal.failNextPersisted(live.persistenceId)
      live.actor ! new Environment.OpenShell(
        ".",
        JMap.of(),
        Optional.empty[TerminalSize],
        live.effective,
        createTestProbe[Environment.OpenReply]().ref)
      eventually(live.output(shell, "echo $x") shouldBe "5\n")
    }
  }

  "A shell that could not be stored" should {

    "not be left running" in inEnvironment { live =>
      journal.failNextPersisted(live.persistenceId)
      live.tryOpen() shouldBe new Environment.Refused(new Failure.JournalUnavailable(2))
      eventually(processes.of(live.id) shouldBe empty)
      eventually(live.shells shouldBe empty)
      live.open()
      processes.of(live.id) should have size 1
    }
  }

  "The events of an environment" should {

    def told(live: Live): Seq[String] = events(live.persistenceId).map {
      case started: EnvironmentEvent.CommandStarted => s"began ${started.command.number}"
      case finished: EnvironmentEvent.CommandFinished => s"ended ${finished.command.number}"
      case other => other.getClass.getSimpleName
    }

    "have each command's beginning and end once, also when the journal failed" in inEnvironment { live =>
      val shell = live.open().id
      journal.failNextPersisted(live.persistenceId)
      live.exec(shell, "echo told", waitMs = 0)
      eventually(told(live) shouldBe Seq("Created", "ShellOpened", "began 1", "ended 1"))
      live.replaceActor()
      askAgain(live.actor)((replyTo: ActorRef[Environment.DescribeReply]) => new Environment.Describe(replyTo))
      eventually(live.commands(shell) should have size 1)
      live.output(shell, "echo more")
      eventually(told(live) shouldBe Seq("Created", "ShellOpened", "began 1", "ended 1", "began 2", "ended 2"))
    }

    "have the commands of which it heard nothing before the service ended" in inEnvironment { live =>
      val shell = live.open().id
      live.exec(shell, "echo quick")
      live.exec(shell, "sleep 600", waitMs = 0)
      live.replaceService()
      live.shells.head.state shouldBe ShellView.State.DEAD
      eventually(
        told(live).filter(_ != "Reconciled") shouldBe
          Seq("Created", "ShellOpened", "began 1", "ended 1", "began 2", "ended 2", "ShellEnded"))
      told(live) should contain("Reconciled")
    }

    "end with the deletion" in inEnvironment { live =>
      val shell = live.open().id
      live.exec(shell, "sleep 600", waitMs = 0)
      live.delete() shouldBe new Environment.Deleted
      told(live) shouldBe
        Seq("Created", "ShellOpened", "began 1", "EmptyingBegun", "ended 1", "ShellEnded", "Deleted")
    }

    "have every end before the deletion that an earlier service began" in inEnvironment { live =>
      val shell = live.open().id
      live.exec(shell, "sleep 600", waitMs = 0)
      eventually(told(live) shouldBe Seq("Created", "ShellOpened", "began 1"))
      journal.persistForRecovery(
        live.persistenceId,
        Seq(new EnvironmentEvent.EmptyingBegun(EnvironmentState.Emptying.FOR_DELETE, 0)))
      live.replaceService()
      live.host.receiveMessage(longest).id shouldBe live.id
      told(live).filter(_ != "Reconciled") shouldBe
        Seq("Created", "ShellOpened", "began 1", "EmptyingBegun", "ended 1", "ShellEnded", "Deleted")
      filesNamed(live.id.value) shouldBe empty
    }

    "have the ends of many shells, each once" in inEnvironment { live =>
      val shells = Seq.fill(4)(live.open().id)
      shells.foreach(live.exec(_, "sleep 600", waitMs = 0))
      live.delete() shouldBe new Environment.Deleted
      val stored = events(live.persistenceId)
      stored.collect { case ended: EnvironmentEvent.ShellEnded => ended.shell } should contain theSameElementsAs shells
      stored.collect { case ended: EnvironmentEvent.CommandFinished => ended.command.shell } should
        contain theSameElementsAs shells
      stored.last shouldBe an[EnvironmentEvent.Deleted]
    }

    "tell of a shell only after its commands" in inEnvironment { live =>
      val shell = live.open().id
      live.exec(shell, "exit 3")
      eventually(told(live) shouldBe Seq("Created", "ShellOpened", "began 1", "ended 1", "ShellEnded"))
    }
  }

  "A reset that was begun" should {

    "be finished by the next service" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "echo x > file")
      gate.close()
      try {
        live.actor ! new Environment.Reset(createTestProbe[Environment.DescribeReply]().ref)
        eventually(
          events(live.persistenceId).exists(_.isInstanceOf[EnvironmentEvent.EmptyingBegun]) shouldBe true)
        testKit.stop(live.actor)
      } finally gate.reopen()
      live.replaceService()
      live.shells shouldBe empty
      Files.exists(live.files.resolve("file")) shouldBe false
      events(live.persistenceId).last shouldBe an[EnvironmentEvent.Reset]
    }

    "be done again until nothing is left" in inEnvironment { live =>
      val held = Files.createDirectory(live.files.resolve("held"))
      mounted(held) {
        live.tryReset() shouldBe new Environment.Refused(new Failure.HostUnavailable(2))
      }
      eventually(events(live.persistenceId).last shouldBe an[EnvironmentEvent.Reset])
      Files.exists(held) shouldBe false
    }

    "leave no rows of the shells it forgot" in inEnvironment { live =>
      val shell = live.open().id
      live.reset()
      eventually(rows.shells.asScala should contain(shell))
    }
  }

  "A delete" should {

    "be told to the account and to the journal until both have it" in inEnvironment { live =>
      rows.failing = true
      try live.delete() shouldBe new Environment.Deleted
      finally rows.failing = false
      live.host.expectNoMessage()
      live.host.receiveMessage(longest).id shouldBe live.id
      rows.environments.asScala should contain(live.id)
    }

    "be done again until nothing is left" in inEnvironment { live =>
      val held = Files.createDirectory(live.files.resolve("held"))
      mounted(held) {
        live.delete() shouldBe new Environment.Refused(new Failure.HostUnavailable(2))
        changes.asScala should not contain ((live.id, Account.Change.DELETED))
      }
      live.host.receiveMessage(longest).id shouldBe live.id
      filesNamed(live.id.value) shouldBe empty
    }
  }

  /** With another mount in the place of a directory, which nothing deletes. */
  private def mounted(directory: Path)(test: => Any): Unit = {
    assume(
      Run.run(s"mount -t tmpfs tmpfs $directory").status == new ExitStatus.Exited(0),
      "mounting a tmpfs needs CAP_SYS_ADMIN")
    try test
    finally Run.run(s"umount --lazy $directory")
  }

  "A restarted service" should {

    "end what was left running and keep the records" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "echo kept > file")
      live.exec(shell, "sleep 600", waitMs = 0)
      eventually(events(live.persistenceId) should have size 5)
      val left: ProcessIdentity = processes.of(live.id).asScala.head.started.shell
      live.replaceService()
      val view = live.shells.head
      (view.state, view.deadReason.get) shouldBe ((ShellView.State.DEAD, "service_restarted"))
      eventually(left.isAlive shouldBe false)
      val command = live.commands(shell).last
      (command.state, command.reason.get) shouldBe
        ((CommandRecord.State.SHELL_DIED, CommandRecord.Reason.SERVICE_RESTARTED))
      val stored = events(live.persistenceId)
      stored.map(_.getClass.getSimpleName) shouldBe Seq(
        "Created",
        "ShellOpened",
        "CommandStarted",
        "CommandFinished",
        "CommandStarted",
        "Reconciled",
        "CommandFinished",
        "ShellEnded")
      stored(5).asInstanceOf[EnvironmentEvent.Reconciled].shells.asScala shouldBe Seq(shell)
      live.output(live.open().id, "cat file") shouldBe "kept\n"
    }
  }
}
