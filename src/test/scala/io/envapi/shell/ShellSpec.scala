package io.envapi.shell

import io.envapi.ActorBehaviour
import io.envapi.failure.Failure
import io.envapi.shell.CommandRecord.{Reason, State}

import java.util.{Optional, OptionalLong}
import scala.jdk.CollectionConverters._

/** A shell's actor over a real bash. */
class ShellSpec extends ActorBehaviour with LiveShells {

  "A shell" should {

    "remember its newest commands, after a recovery too" in inShell { shell =>
      (1 to 203).foreach(_ => shell.run(":"))
      shell.replaceActor()
      shell.commands.map(_.id.number) shouldBe (4 to 203)
      shell.run(":").command.id.number shouldBe 204
    }

    "tell whether it became idle" in inShell { shell =>
      shell.await().idle shouldBe true
      shell.start("read x")
      shell.await(timeoutMs = 50).idle shouldBe false
      shell.stdin("\n")
      shell.await().idle shouldBe true
    }

    "answer a waiting reader when there is output" in inShell { shell =>
      shell.start("read x; echo $x; read y")
      val reader = createTestProbe[Shell.OutputReply]()
      shell.actor ! new Shell.ReadOutput(0, 100, 20000, reader.ref)
      shell.stdin("now\n")
      reader.expectMessageType[Shell.Output](longest).slice.data.utf8String shouldBe "now\n"
    }

    "take a repeated write to its input once" in inShell { shell =>
      shell.stdin("one\n", offset = Some(0)) shouldBe new Shell.StdinWritten(4, 4)
      shell.stdin("one\n", offset = Some(0)) shouldBe new Shell.StdinWritten(4, 4)
      shell.stdin("one\ntwo\n", offset = Some(0), eof = true) shouldBe new Shell.StdinWritten(8, 8)
      shell.output("cat") shouldBe "one\ntwo\n"
    }

    "refuse input past what it has" in inShell { shell =>
      shell.stdin("x", offset = Some(5)) shouldBe
        new Shell.Refused(Failure.invalid("is past the bytes sent so far", "body", "offset"))
    }

    "refuse input after its end" in inShell { shell =>
      shell.stdin("", eof = true) shouldBe new Shell.StdinWritten(0, 0)
      shell.stdin("more").asInstanceOf[Shell.Refused].failure shouldBe a[Failure.Conflict]
    }

    "signal what it runs and not itself" in inShell { shell =>
      val waiting = shell.start("sleep 600")
      eventually(shell.process.tree.below should not be empty)
      val reply = shell.ask[Shell.SignalReply](new Shell.SignalBelow("TERM", _)).asInstanceOf[Shell.Signalled]
      reply.signal shouldBe 15
      shell.await().last.get.id shouldBe waiting
      end(shell.commands.last) shouldBe ((State.EXITED, Some(Reason.SIGNALED), Some(143), Some(15)))
      shell.describe.state shouldBe ShellView.State.RUNNING
    }

    "refuse a signal there is not" in inShell { shell =>
      shell.ask[Shell.SignalReply](new Shell.SignalBelow("NOPE", _)) shouldBe
        new Shell.Refused(new Failure.InvalidSignal("NOPE"))
    }

    "list its processes" in inShell { shell =>
      shell.start("sleep 600")
      eventually {
        val listed = shell.ask[Shell.ProcessesReply](new Shell.ListProcesses(_)).asInstanceOf[Shell.Processes]
        listed.processes.asScala.map(_.pid) should contain(shell.process.started.shell.pid)
        listed.processes.size should be > 1
      }
    }

    "refuse what only a terminal has" in inShell { shell =>
      shell.ask[Shell.ResizeReply](new Shell.Resize(TerminalSize.DEFAULT, _)).asInstanceOf[Shell.Refused].failure shouldBe
        a[Failure.Conflict]
      shell.stdin("x", tty = true).asInstanceOf[Shell.Refused].failure shouldBe a[Failure.Conflict]
    }

    "refuse everything that needs a process once it ended" in inShell { shell =>
      shell.close(atOnce = false).state shouldBe ShellView.State.CLOSED
      shell.exec("echo no") shouldBe notRunning
      shell.stdin("no") shouldBe notRunning
      shell.ask[Shell.SignalReply](new Shell.SignalBelow("INT", _)) shouldBe notRunning
      shell.ask[Shell.ResizeReply](new Shell.Resize(TerminalSize.DEFAULT, _)) shouldBe notRunning
      shell.ask[Shell.ProcessesReply](new Shell.ListProcesses(_)).asInstanceOf[Shell.Processes].processes shouldBe empty
      shell.await().idle shouldBe true
    }

    "tell its output and its commands after its end" in inShell { shell =>
      shell.run("echo kept")
      shell.close()
      shell.read(0, 0).slice.data.utf8String shouldBe "kept\n"
      shell.commands.map(_.command) shouldBe Seq("echo kept")
    }

    "be closed once, whoever asks" in inShell { shell =>
      val first = createTestProbe[Shell.CloseReply]()
      val second = createTestProbe[Shell.CloseReply]()
      shell.actor ! new Shell.Close(false, first.ref)
      shell.actor ! new Shell.Close(true, second.ref)
      Seq(first, second).foreach { probe =>
        probe.expectMessageType[Shell.Closed](longest).shell.deadReason shouldBe Optional.of("closed")
      }
      shell.ended().state shouldBe ShellView.State.CLOSED
      shell.close().state shouldBe ShellView.State.CLOSED
    }

    "stay when it was used after somebody took it for unused" in inShell { shell =>
      def closeUnused(since: Long): Shell.CloseReply =
        shell.ask[Shell.CloseReply](new Shell.Close(false, OptionalLong.of(since), _))

      shell.run("x=5")
      closeUnused(shell.describe.lastActivityAt) shouldBe a[Shell.Refused]
      val busy = shell.start("read x")
      closeUnused(Long.MaxValue) shouldBe a[Shell.Refused]
      shell.stdin("\n")
      shell.await().last.get.id shouldBe busy
      closeUnused(shell.describe.lastActivityAt + 1) shouldBe a[Shell.Closed]
    }

    "end when its process does, without a command" in inShell { shell =>
      shell.process.kill()
      shell.ended().reason shouldBe "signal:9"
      shell.describe.state shouldBe ShellView.State.DEAD
    }
  }
}
