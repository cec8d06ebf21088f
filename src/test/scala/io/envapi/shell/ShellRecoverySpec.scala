package io.envapi.shell

import io.envapi.ActorBehaviour
import io.envapi.failure.Failure
import io.envapi.shell.CommandRecord.{Reason, State}
import org.apache.pekko.actor.typed.ActorRef

import java.nio.file.Files
import java.util.{List => JList, Map => JMap, Optional}

/** What another actor, another service and a broken journal leave of a shell. */
class ShellRecoverySpec extends ActorBehaviour with LiveShells {

  "Another actor for a live shell" should {

    "have the same process, with what it holds" in inShell { shell =>
      shell.run("x=5")
      shell.replaceActor()
      shell.output("echo $x") shouldBe "5\n"
      shell.commands should have size 2
    }

    "see the end of the command it found running" in inShell { shell =>
      val id = shell.start("read x; echo got $x; (exit 6)")
      shell.replaceActor()
      shell.describe.currentCommand shouldBe Optional.of(id)
      shell.stdin("it\n")
      val last = shell.await().last.get
      (last.id, last.exitCode.get) shouldBe ((id, 6))
    }

    "still time out the command it found running" in inShell { shell =>
      shell.start("sleep 600", timeoutMs = Some(300))
      shell.replaceActor()
      shell.await().last.get.state shouldBe State.TIMED_OUT
    }
  }

  "A shell without its process" should {

    "end the command that was running, as the service restarted" in inShell { shell =>
      val id = shell.start("echo before; sleep 600")
      shell.outputWith("before", 0)
      shell.replaceActor(new ShellProcesses(sandbox, runtime))
      shell.ended().reason shouldBe "service_restarted"
      eventually(shell.describe.currentCommand shouldBe Optional.empty)
      val command = shell.commands.last
      end(command) shouldBe ((State.SHELL_DIED, Some(Reason.SERVICE_RESTARTED), None, None))
      (command.id, command.logBytes) shouldBe ((id, 7))
      shell.read(0, 0).slice.data.utf8String shouldBe "before\n"
      shell.exec("echo no") shouldBe notRunning
    }
  }

  "A journal that fails" should {

    "keep a command from starting" in inShell { shell =>
      shell.run("x=kept")
      journal.failNextPersisted(shell.persistenceId)
      ask[Shell.Command, Shell.ExecReply](shell.actor)(
        new Shell.Exec(
          "echo ran > ran-without-journal",
          0,
          Optional.empty[java.lang.Long],
          JMap.of(),
          JList.of(),
          new Shell.Window(10, false),
          false,
          10,
          _)) shouldBe new Shell.Refused(new Failure.JournalUnavailable(2))
      askAgain(shell.actor)(new Shell.Describe(_: ActorRef[Shell.DescribeReply]))
      shell.output("echo $x") shouldBe "kept\n"
      shell.commands.map(_.command) shouldBe Seq("x=kept", "echo $x")
      Files.exists(workspace.files.resolve("ran-without-journal")) shouldBe false
    }

    "keep what is printed meanwhile out of the log of the next one" in inShell { shell =>
      shell.run("mkfifo go; cat go &")
      journal.failNextPersisted(shell.persistenceId)
      shell.exec("echo never") shouldBe new Shell.Refused(new Failure.JournalUnavailable(2))
      askAgain(shell.actor)(new Shell.Describe(_: ActorRef[Shell.DescribeReply]))
      Files.writeString(workspace.files.resolve("go"), "background\n")
      shell.outputWith("background", 0)
      val mine = shell.run("echo mine").command
      mine.logBytes shouldBe 5
      shell.ask[Shell.CommandReply](new Shell.ReadCommand(mine.id, 0, 100, _)) match {
        case read: Shell.CommandRead => read.output.utf8String shouldBe "mine\n"
        case refused => fail(refused.toString)
      }
    }

    "not lose how the shell ended, for its command" in inShell { shell =>
      shell.start("read x; exit 3")
      journal.failNextPersisted(shell.persistenceId)
      shell.stdin("\n")
      eventually {
        askAgain(shell.actor)(new Shell.Describe(_: ActorRef[Shell.DescribeReply])) match {
          case described: Shell.Described => described.shell.state shouldBe ShellView.State.DEAD
          case refused => fail(refused.toString)
        }
      }
      end(shell.commands.last) shouldBe ((State.SHELL_DIED, Some(Reason.SHELL_EXITED), Some(3), None))
    }

    "not lose the end of a command" in inShell { shell =>
      val id = shell.start("read x; (exit 6)")
      journal.failNextPersisted(shell.persistenceId)
      shell.stdin("\n")
      eventually {
        askAgain(shell.actor)(new Shell.Describe(_: ActorRef[Shell.DescribeReply])) match {
          case described: Shell.Described =>
            described.shell.currentCommand shouldBe Optional.empty
          case refused => fail(refused.toString)
        }
      }
      val last = shell.commands.last
      (last.id, last.exitCode.get) shouldBe ((id, 6))
      shell.output("echo next") shouldBe "next\n"
    }
  }
}
