package io.envapi.shell

import io.envapi.ActorBehaviour
import io.envapi.shell.CommandRecord.{Reason, State}

import java.util.Optional

/** A shell's actor over a real bash that has a terminal. */
class TerminalSpec extends ActorBehaviour with LiveShells {

  "A shell with a terminal" should {

    "resize its terminal and take input from it" in inTerminal { shell =>
      val size = new TerminalSize(40, 120)
      shell.ask[Shell.ResizeReply](new Shell.Resize(size, _)) shouldBe new Shell.Resized(size)
      shell.output("stty size < /dev/tty") should include("40 120")
      shell.start("read answer < /dev/tty; echo \"got $answer\"")
      shell.stdin("typed\n", tty = true) shouldBe a[Shell.StdinWritten]
      shell.outputWith("got typed", 0)
    }

    "take Ctrl-C for its command and not for itself" in inTerminal { shell =>
      shell.run("here=kept; f() { sleep 600; }")
      Seq(
        "echo ready; sleep 600",
        "sleep 600 | { echo ready; cat; }",
        "echo ready; while :; do sleep 1; done",
        "echo ready; for i in 1 2; do while :; do :; done; done",
        "echo ready; while :; do date; done",
        "echo ready; f; f; sleep 600; f",
        "echo ready; eval 'sleep 600'; while :; do :; done; sleep 600",
        "(echo ready; sleep 600); sleep 600",
        "echo ready; set -e; sleep 600 || set +e").foreach(interrupted(shell, _))
      shell.output("echo $here") should include("kept")
    }

    "tell what Ctrl-C ended" in inTerminal { shell =>
      val command = interrupted(shell, "bash -c 'echo ready; exec sleep 600'").command
      end(command) shouldBe ((State.EXITED, Some(Reason.SIGNALED), Some(130), Some(2)))
    }

    "leave the next command alone after Ctrl-C" in inTerminal { shell =>
      (1 to 10).foreach { _ =>
        interrupted(shell, "echo ready; sleep 600; sleep 600")
        shell.run("sleep 0.2; sleep 0.2").command.exitCode shouldBe Optional.of(0)
      }
    }

    "go on when a program takes Ctrl-C and ends otherwise" in inTerminal { shell =>
      val handles = "bash -c 'trap \"echo taken; exit 3\" INT; echo ready; while :; do read -t 0.01; done'"
      interrupted(shell, handles).command.exitCode shouldBe Optional.of(3)
      val rest = "bash -c 'echo went on; sleep 0.5; echo to its end'"
      interrupted(shell, s"while :; do $handles; done; $rest").output.utf8String should include("to its end")
    }

    "leave Ctrl-C to the trap of its user, after another took it" in inTerminal { shell =>
      interrupted(shell, "while echo ready; do :; done")
      val trap = "trap 'echo taken; sleep 0.5; echo cleaned' INT"
      val command = s"$trap; bash -c 'echo ready; exec sleep 600'; echo after; trap - INT"
      interrupted(shell, command).output.utf8String should include regex "taken\\s+cleaned\\s+after"
    }

    "let a program that takes a signal end in peace" in inTerminal { shell =>
      val peace = "trap - INT TERM; sleep 0.5; echo peace; exit"
      val command = s"bash -c 'trap \"$peace\" INT TERM; echo ready; while :; do read -t 0.01; done'"
      interrupted(shell, command).output.utf8String should include("peace")
      val id = shell.started(command)
      shell.ask[Shell.SignalReply](new Shell.SignalBelow("TERM", _)) shouldBe a[Shell.Signalled]
      shell.await().idle shouldBe true
      shell.result(id).output.utf8String should include("peace")
    }

    "end by a signal what it is just starting" in inTerminal { shell =>
      (1 to 30).foreach { n =>
        // After a status other than 0 the shell would begin with a subshell of its own.
        shell.run(s": $n")
        shell.start("sleep 600")
        eventually(shell.process.tree.below should not be empty)
        shell.ask[Shell.SignalReply](new Shell.SignalBelow("INT", _)) shouldBe a[Shell.Signalled]
        shell.await().last.get.exitCode shouldBe Optional.of(130)
      }
    }
  }

  /** Runs a command that prints "ready", and interrupts it there. */
  private def interrupted(shell: Live, command: String): CommandResult = {
    val id = shell.started(command)
    shell.stdin("\u0003", tty = true) shouldBe a[Shell.StdinWritten]
    withClue(command)(shell.await(timeoutMs = 10000).idle shouldBe true)
    shell.result(id)
  }
}
