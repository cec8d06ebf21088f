package io.envapi.environment

import io.envapi.ActorBehaviour
import io.envapi.account.Account
import io.envapi.failure.Failure
import io.envapi.files.{FileOperation, SentPath}
import io.envapi.id.ShellId
import io.envapi.shell.{CommandRecord, Shell, ShellView, TerminalSize}

import java.util.{Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** An environment's actor over a real sandbox and real shells. */
class EnvironmentSpec extends ActorBehaviour with LiveEnvironments {

  "An environment that was not made" should {

    "refuse everything as not found" in {
      val live = new Live
      live.tryOpen() shouldBe notFound(live)
      live.ask[Environment.DescribeReply](new Environment.Describe(_)) shouldBe notFound(live)
      live.delete() shouldBe notFound(live)
      live.exec(ShellId.of(live.id, 1), ":") shouldBe
        new Shell.Refused(new Failure.NotFound(Failure.Kind.SHELL, ShellId.of(live.id, 1).value))
    }
  }

  "An environment" should {

    "be made once, whoever asks again" in inEnvironment { live =>
      live.create() shouldBe new Environment.Created
      events(live.persistenceId) should have size 1
      val view = live.describe
      (view.account, view.spec, view.state) shouldBe ((account, wanted, EnvironmentView.State.ACTIVE))
      view.tier shouldBe sandbox.tier
    }

    "open shells with numbers of their own, and list them oldest first" in inEnvironment { live =>
      val first = live.open()
      val second = live.open()
      Seq(first, second).map(_.id) shouldBe Seq(ShellId.of(live.id, 1), ShellId.of(live.id, 2))
      live.shells.map(_.id) shouldBe Seq(first.id, second.id)
      live.describe.shellsRunning shouldBe 2
    }

    "open a shell where the caller wants it, with the caller's variables" in inEnvironment { live =>
      live.output(live.open().id, "mkdir -p a/b")
      val shell = live.open("a/b", JMap.of("COLOR", "blue"))
      shell.identity.cwd shouldBe "a/b"
      live.output(shell.id, "echo ${PWD##*/} $COLOR") shouldBe "b blue\n"
    }

    "refuse to open a shell outside of the workspace or nowhere" in inEnvironment { live =>
      live.output(live.open().id, "ln -s / root; touch file")
      live.tryOpen("..") shouldBe new Environment.Refused(new Failure.PathOutsideWorkspace(".."))
      live.tryOpen("/etc") shouldBe new Environment.Refused(new Failure.PathOutsideWorkspace("/etc"))
      live.tryOpen("root/etc") shouldBe new Environment.Refused(new Failure.PathOutsideWorkspace("root/etc"))
      live.tryOpen("missing") shouldBe new Environment.Refused(new Failure.InvalidCwd("missing"))
      live.tryOpen("file") shouldBe new Environment.Refused(new Failure.InvalidCwd("file"))
      live.shells should have size 1
    }

    "refuse a shell past its quota, those being opened counted" in inEnvironment { live =>
      live.effective = quotas("max_shells_per_environment" -> 3)
      val answers = createTestProbe[Environment.OpenReply]()
      (1 to 8).foreach { _ =>
        live.actor ! new Environment.OpenShell(".", JMap.of(), Optional.empty[TerminalSize], live.effective, answers.ref)
      }
      val replies = answers.receiveMessages(8, longest)
      replies.count(_.isInstanceOf[Environment.Opened]) shouldBe 3
      replies.collect { case refused: Environment.Refused => refused.failure }.toSet shouldBe
        Set(new Failure.QuotaExceeded("max_shells_per_environment", 3, 3))
    }

    "count a shell no more once it is closed" in inEnvironment { live =>
      live.effective = quotas("max_shells_per_environment" -> 1)
      val shell = live.open()
      live.toShell[Shell.CloseReply](shell.id)(new Shell.Close(true, _)) shouldBe a[Shell.Closed]
      eventually(live.open().id.number shouldBe 2)
      live.shells.map(_.state) shouldBe Seq(ShellView.State.CLOSED, ShellView.State.RUNNING)
    }

    "pass requests on to its shells, and know no others" in inEnvironment { live =>
      live.output(live.open().id, "echo hi") shouldBe "hi\n"
      val unknown = ShellId.of(live.id, 9)
      live.exec(unknown, ":") shouldBe new Shell.Refused(new Failure.NotFound(Failure.Kind.SHELL, unknown.value))
    }

    "tell of all shells that ended, however many they are" in inEnvironment { live =>
      live.effective = quotas("max_shells_per_environment" -> 100)
      val all = (1 to 23).map { number =>
        val shell = live.open().id
        live.output(shell, s"echo shell $number") shouldBe s"shell $number\n"
        live.toShell[Shell.CloseReply](shell)(new Shell.Close(true, _)) shouldBe a[Shell.Closed]
        shell
      }
      // Twice, and from both ends, so that each is asked with and without an actor of its own.
      for ((shell, number) <- all.zip(LazyList.from(1)) ++ all.zip(LazyList.from(1)).reverse) {
        live.commands(shell).map(_.exitCode.get) shouldBe Seq(0)
        live.toShell[Shell.OutputReply](shell)(new Shell.ReadOutput(0, 100, 0, _)) match {
          case output: Shell.Output => output.slice.data.utf8String shouldBe s"shell $number\n"
          case refused => fail(refused.toString)
        }
      }
    }

    "tell how a shell ended, by itself too" in inEnvironment { live =>
      val shell = live.open()
      live.exec(shell.id, "exit 3")
      eventually {
        val ended = live.shells.head
        (ended.state, ended.deadReason.get) shouldBe ((ShellView.State.DEAD, "exit:3"))
      }
      events(live.persistenceId).last shouldBe an[EnvironmentEvent.ShellEnded]
    }

    "list its processes and signal one of them" in inEnvironment { live =>
      val shell = live.open().id
      live.exec(shell, "sleep 600", waitMs = 0)
      val sleep = eventually {
        live
          .ask[Environment.ProcessesReply](new Environment.ListProcesses(_))
          .asInstanceOf[Environment.Processes]
          .processes
          .asScala
          .find(_.process.cmdline.toString.contains("sleep"))
          .get
      }
      sleep.shell shouldBe shell
      live.ask[Environment.SignalReply](new Environment.SignalProcess(sleep.process.pid, "KILL", _)) shouldBe
        new Environment.Signalled(9, shell)
      eventually(live.commands(shell).last.exitCode shouldBe Optional.of(137))
    }

    "signal no process that is not its own" in inEnvironment { live =>
      live.open()
      val own = ProcessHandle.current.pid.toInt
      live.ask[Environment.SignalReply](new Environment.SignalProcess(own, "TERM", _)) shouldBe
        new Environment.Refused(new Failure.NotFound(Failure.Kind.PROCESS, own.toString))
      live.ask[Environment.SignalReply](new Environment.SignalProcess(own, "NOPE", _)) shouldBe
        new Environment.Refused(new Failure.InvalidSignal("NOPE"))
    }

    "run one command in a shell of its own, and close it" in inEnvironment { live =>
      val result = live.once("cat; exit 4", stdin = "from outside").asInstanceOf[Environment.RanOnce].result
      (result.output.utf8String, result.command.exitCode.get, result.shellState) shouldBe
        (("from outside", 4, ShellView.State.CLOSED))
      eventually(live.describe.shellsRunning shouldBe 0)
      live.once("sleep 600", timeoutMs = 100).asInstanceOf[Environment.RanOnce].result.command.state shouldBe
        CommandRecord.State.TIMED_OUT
      live.once("true", cwd = "missing") shouldBe new Environment.Refused(new Failure.InvalidCwd("missing"))
    }

    "summarise itself, the newest commands first" in inEnvironment { live =>
      val first = live.open().id
      val second = live.open().id
      live.exec(first, "echo 1")
      live.exec(second, "echo 2")
      val summary = live.ask[Environment.SummaryReply](new Environment.Summarise(_)).asInstanceOf[Environment.Summary]
      summary.shells.asScala.map(_.id) shouldBe Seq(first, second)
      summary.recentCommands.asScala.map(_.command).toSet shouldBe Set("echo 1", "echo 2")
      summary.processes.asScala.map(_.shell).toSet shouldBe Set(first, second)
    }

    "work on its files" in inEnvironment { live =>
      live.write("dir/file", "text") shouldBe an[Environment.FileDone]
      live.output(live.open().id, "cat dir/file") shouldBe "text"
      live.write("../out", "text") shouldBe
        new Environment.Refused(new Failure.PathOutsideWorkspace("../out"))
    }

    "refuse commands and shells while its disk is over the quota" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "head -c 300000 /dev/zero > big")
      live.effective = quotas("max_disk_bytes" -> 100000)
      val usage = live
        .ask[Environment.UsageReply](new Environment.MeasureUsage(live.effective, _))
        .asInstanceOf[Environment.Usage]
        .usage
      usage.workspaceBytes should be >= 300000L
      (usage.maxDiskBytes, usage.shellsRunning) shouldBe ((100000, 1))
      eventually {
        live.exec(shell, "echo no").asInstanceOf[Shell.Refused].failure.asInstanceOf[Failure.QuotaExceeded].limit shouldBe
          "max_disk_bytes"
      }
      live.tryOpen().asInstanceOf[Environment.Refused].failure shouldBe a[Failure.QuotaExceeded]
      live.effective = quotas()
      live.output(shell, "rm big; echo fine") shouldBe "fine\n"
    }

    "have limits of the account where it has none of its own" in inEnvironment { live =>
      live.effective = quotas("max_processes_per_shell" -> 77)
      live
        .ask[Environment.UsageReply](new Environment.MeasureUsage(live.effective, _))
        .asInstanceOf[Environment.Usage]
        .usage
        .limits
        .processes shouldBe 77
    }
  }

  "A reset" should {

    "end the shells, empty the workspace and never use a shell's number again" in inEnvironment { live =>
      val shell = live.open().id
      live.output(shell, "touch file; sleep 600 & true")
      val view = live.reset()
      (view.state, view.shells.size) shouldBe ((EnvironmentView.State.ACTIVE, 0))
      processes.of(live.id) shouldBe empty
      live.files.toFile.list shouldBe empty
      live.exec(shell, ":") shouldBe new Shell.Refused(new Failure.NotFound(Failure.Kind.SHELL, shell.value))
      live.open().id.number shouldBe 2
    }
  }

  "A delete" should {

    "leave nothing on the host, and tell host and account" in {
      val live = new Live
      live.create()
      live.exec(live.open().id, "touch file; sleep 600", waitMs = 0)
      val shell = processes.of(live.id).asScala.head.started.shell
      live.delete() shouldBe new Environment.Deleted
      live.host.receiveMessage(longest) shouldBe new EnvironmentActor.EnvironmentGone(live.id)
      live.awaitChange(Account.Change.DELETED)
      processes.of(live.id) shouldBe empty
      shell.isAlive shouldBe false
      live.delete() shouldBe notFound(live)
      filesNamed(live.id.value) shouldBe empty
    }

    "be finished by the next actor when it was not" in {
      val live = new Live
      live.create()
      live.exec(live.open().id, "touch file")
      gate.close()
      live.actor ! new Environment.Delete(createTestProbe[Environment.DeleteReply]().ref)
      eventually(events(live.persistenceId).last shouldBe an[EnvironmentEvent.Deleted])
      testKit.stop(live.actor)
      gate.reopen()
      live.replaceActor()
      live.host.receiveMessage(longest) shouldBe new EnvironmentActor.EnvironmentGone(live.id)
      filesNamed(live.id.value) shouldBe empty
    }
  }

  "The reaper" should {

    "close an idle shell and leave a busy one" in inEnvironment { live =>
      val idle = live.open().id
      val busy = live.open().id
      live.exec(busy, "sleep 600", waitMs = 0)
      live.effective = quotas("shell_idle_ttl_seconds" -> 0.1)
      eventually(live.shells.find(_.id == idle).get.state shouldBe ShellView.State.CLOSED)
      live.shells.find(_.id == busy).get.state shouldBe ShellView.State.RUNNING
    }

    "archive an environment that is idle and has no shells, and a reset revive it" in inEnvironment { live =>
      live.write("file", "text")
      live.effective = quotas("environment_idle_ttl_seconds" -> 0.1)
      live.awaitChange(Account.Change.ARCHIVED)
      val view = live.describe
      view.state shouldBe EnvironmentView.State.ARCHIVED
      view.archivedAt shouldBe a[Optional[_]]
      live.files.toFile.list shouldBe empty
      live.tryOpen() shouldBe new Environment.Refused(new Failure.EnvironmentArchived)
      live.write("file", "text") shouldBe new Environment.Refused(new Failure.EnvironmentArchived)
      live.once("true") shouldBe new Environment.Refused(new Failure.EnvironmentArchived)
      live.effective = quotas()
      live.full = true
      live.tryReset() shouldBe
        new Environment.Refused(new Failure.QuotaExceeded("max_environments_per_account", 1, 1))
      live.describe.state shouldBe EnvironmentView.State.ARCHIVED
      live.full = false
      live.reset().state shouldBe EnvironmentView.State.ACTIVE
      live.awaitChange(Account.Change.REVIVED)
      live.output(live.open().id, "echo again") shouldBe "again\n"
    }

    "not archive an environment that has a shell" in inEnvironment { live =>
      live.exec(live.open().id, "read x", waitMs = 0)
      live.effective = quotas("environment_idle_ttl_seconds" -> 0.05)
      live.write("file", "text")
      live.effective = quotas("environment_idle_ttl_seconds" -> 0.05, "shell_idle_ttl_seconds" -> 0.05)
      val other = live.open().id
      eventually(live.shells.find(_.id == other).get.state shouldBe ShellView.State.CLOSED)
      live.describe.state shouldBe EnvironmentView.State.ACTIVE
      live.files.toFile.list should contain("file")
    }

    "take some of the threads for its files, and none of those for its shells" in inEnvironment { live =>
      live.write("file", "text")
      fileGate.close()
      val read = createTestProbe[Environment.FileReply]()
      (1 to 20).foreach(_ =>
        live.actor ! new Environment.RunFile(
          new FileOperation.ReadFile(SentPath.of("file"), 0, 100),
          live.effective,
          read.ref))
      val written = createTestProbe[Environment.FileReply]()
      (1 to 5).foreach(_ =>
        live.actor ! new Environment.RunFile(
          new FileOperation.MakeDirectory(SentPath.of("directory")),
          live.effective,
          written.ref))
      live.output(live.open().id, "cat file") shouldBe "text"
      fileGate.waiting shouldBe 8
      fileGate.reopen()
      read.receiveMessages(20, longest)
      written.receiveMessages(5, longest)
    }

    "refuse what is asked of its files when too much of that waits" in inEnvironment { live =>
      live.write("file", "text")
      fileGate.close()
      val read = createTestProbe[Environment.FileReply]()
      val most = FileTurns.MOST + FileTurns.MOST_WAITING
      (0 to most).foreach(_ =>
        live.actor ! new Environment.RunFile(
          new FileOperation.ReadFile(SentPath.of("file"), 0, 100),
          live.effective,
          read.ref))
      read.receiveMessage(longest) shouldBe new Environment.Refused(new Failure.HostUnavailable(5))
      fileGate.reopen()
      read.receiveMessages(most, longest).foreach(_ shouldBe an[Environment.FileDone])
    }

    "not archive an environment that came into use while it was looked at" in inEnvironment { live =>
      live.write("file", "text")
      gate.close()
      live.effective = quotas("environment_idle_ttl_seconds" -> 0.001)
      eventually(gate.waiting should be >= 2)
      live.effective = quotas()
      val opened = createTestProbe[Environment.OpenReply]()
      val before = gate.waiting
      live.actor ! new Environment.OpenShell(".", JMap.of(), Optional.empty[TerminalSize], live.effective, opened.ref)
      eventually(gate.waiting should be > before)
      gate.reopen()
      val shell = opened.expectMessageType[Environment.Opened](longest).shell.id
      live.output(shell, "cat file") shouldBe "text"
      live.describe.state shouldBe EnvironmentView.State.ACTIVE
    }
  }
}
