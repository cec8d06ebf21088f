package io.envapi.shell

import io.envapi.ActorBehaviour
import io.envapi.failure.Failure
import io.envapi.id.CommandId
import io.envapi.shell.CommandRecord.{Reason, State}

import java.util.{List => JList, Map => JMap, Optional}

/** What becomes of a command in a real bash. */
class CommandSpec extends ActorBehaviour with LiveShells {

  "A command" should {

    "end with its status and output" in inShell { shell =>
      val result = shell.run("echo one; echo two >&2; (exit 3)")
      result.output.utf8String shouldBe "one\ntwo\n"
      end(result.command) shouldBe ((State.EXITED, Some(Reason.EXITED), Some(3), None))
      result.shellState shouldBe ShellView.State.RUNNING
      result.command.id shouldBe CommandId.of(shell.id, 1)
    }

    "find what the one before left in the shell" in inShell { shell =>
      shell.run("cd /tmp; x=5; (exit 4)")
      shell.output("echo $? $x $PWD") shouldBe "4 5 /tmp\n"
    }

    "use any descriptor as in any bash" in inShell { shell =>
      val all = (3 to 12).mkString(" ")
      shell.run(s"for i in $all; do eval \"exec $$i>f$$i\"; done; ls /proc/self/fd | wc -l").output.utf8String shouldBe "14\n"
      shell.run(s"for i in $all; do echo $$i >&$$i; done; cat f{3..12} | tr '\\n' ' '").output.utf8String shouldBe
        s"$all "
      shell.run(s"for i in $all; do eval \"exec $$i>&-\"; done; ls /proc/self/fd | wc -l").output.utf8String shouldBe "4\n"
      shell.output("echo usable") shouldBe "usable\n"
    }

    "use any descriptor in a subshell too" in inShell { shell =>
      val script = "for i in {3..12}; do eval \"exec $i>f$i; echo $i >&$i\"; done; cat f{3..12} | tr '\\n' ' '"
      shell.run(script, subshell = true).output.utf8String shouldBe s"${(3 to 12).mkString(" ")} "
    }

    "hold a lock for as long as its descriptor is open" in inShell { shell =>
      shell.run("exec 8>lock; flock 8")
      shell.run("flock -n lock true").command.exitCode shouldBe Optional.of(1)
      shell.run("exec 8>&-; flock -n lock true").command.exitCode shouldBe Optional.of(0)
    }

    "be long after descriptors were closed" in inShell { shell =>
      shell.run("exec 10>lock; exec 10>&- 11>&- 7<&-")
      shell.run(s"#${"y" * 5000}\necho deployed; false").output.utf8String shouldBe "deployed\n"
    }

    "never seem to have run when its text could not be read" in inShell { shell =>
      shell.run("exec 253<&-")
      val result = shell.run(s"#${"y" * 5000}\necho deployed")
      result.command.reason shouldBe Optional.of(Reason.FRAME_LOST)
    }

    "begin with a dash" in inShell { shell =>
      shell.run("--help").command.exitCode shouldBe Optional.of(127)
      shell.run("-n", subshell = true).command.exitCode shouldBe Optional.of(127)
    }

    "be a script that looks for its own directory" in inShell { shell =>
      val here = shell.output("pwd")
      shell.output("cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd") shouldBe here
      shell.output("cd \"$(dirname \"$0\")\" && pwd; echo $0") shouldBe s"${here}bash\n"
    }

    "be remembered with the beginning of its text when there is no room for more" in inShell { shell =>
      val long = s": ${"x" * 600000}"
      Seq(long, long, long, ":").foreach(shell.run(_))
      shell.commands.map(c => (c.command.length, c.textTruncated)) shouldBe
        Seq((1024, true), (1024, true), (long.length, false), (1, false))
      shell.replaceActor()
      shell.commands.map(_.command.length) shouldBe Seq(1024, 1024, long.length, 1)
    }

    "be stored from its start to its end" in inShell { shell =>
      shell.run("echo hello")
      val Seq(started: ShellEvent.CommandStarted, finished: ShellEvent.CommandFinished) =
        events(shell.persistenceId): @unchecked
      started.command shouldBe "echo hello"
      started.credentialsMissing shouldBe JList.of("absent")
      finished.logBytes shouldBe 6
      finished.outputEnd shouldBe 6
    }

    "be told to the environment when it starts and when it ends" in inShell { shell =>
      shell.run("true")
      shell.notices.expectMessageType[ShellActor.Happened].event shouldBe a[ShellEvent.CommandStarted]
      shell.notices.expectMessageType[ShellActor.Happened].event shouldBe a[ShellEvent.CommandFinished]
    }

    "report a process that a signal ended as 128 and the signal" in inShell { shell =>
      val result = shell.run("bash -c 'kill -9 $$'")
      end(result.command) shouldBe ((State.EXITED, Some(Reason.SIGNALED), Some(137), Some(9)))
    }

    "be killed at its time-out and leave the shell usable" in inShell { shell =>
      val result = shell.run("sleep 600", timeoutMs = Some(100))
      result.command.state shouldBe State.TIMED_OUT
      result.command.reason shouldBe Optional.of(Reason.TIMED_OUT)
      result.shellState shouldBe ShellView.State.RUNNING
      shell.output("echo still here") shouldBe "still here\n"
    }

    "leave what an earlier one put in the background alone when it is timed out" in inShell { shell =>
      // Which command a process belongs to is told by when it started, in ticks of 10 ms.
      shell.run("sleep 600 & echo $! > background; sleep 0.1")
      shell.run("sleep 0.05; sleep 600", timeoutMs = Some(100)).command.state shouldBe State.TIMED_OUT
      shell.run("kill -0 $(cat background)").command.exitCode shouldBe Optional.of(0)
    }

    "leave what those start meanwhile alone too" in inShell { shell =>
      shell.run("(while sleep 0.01; do echo >> ticks; done; echo > died) & sleep 0.1")
      shell.run("sleep 0.05; sleep 600", timeoutMs = Some(300)).command.state shouldBe State.TIMED_OUT
      shell
        .run("n=$(wc -l <ticks); until [ $(wc -l <ticks) -gt $((n + 3)) ] || [ -e died ]; do sleep 0.01; done; [ ! -e died ]")
        .command
        .exitCode shouldBe Optional.of(0)
    }

    "take the shell with it when only the shell itself can be timed out" in inShell { shell =>
      val result = shell.run("while :; do :; done", timeoutMs = Some(50))
      end(result.command) shouldBe ((State.TIMED_OUT, Some(Reason.TIMED_OUT), None, Some(9)))
      shell.ended().state shouldBe ShellView.State.DEAD
    }

    "end with the shell's code when it ends the shell" in inShell { shell =>
      val result = shell.run("echo bye; exit 7")
      end(result.command) shouldBe ((State.SHELL_DIED, Some(Reason.SHELL_EXITED), Some(7), None))
      result.output.utf8String shouldBe "bye\n"
      val over = shell.ended()
      (over.state, over.reason, over.commandsRun) shouldBe ((ShellView.State.DEAD, "exit:7", 1))
    }

    "end with the signal when the shell is killed" in inShell { shell =>
      val result = shell.run("kill -9 $$")
      end(result.command) shouldBe ((State.SHELL_DIED, Some(Reason.SIGNALED), None, Some(9)))
      shell.ended().reason shouldBe "signal:9"
    }

    "end alone when it leaves a subshell of its own" in inShell { shell =>
      end(shell.run("exit 7", subshell = true).command) shouldBe
        ((State.EXITED, Some(Reason.EXITED), Some(7), None))
      shell.describe.state shouldBe ShellView.State.RUNNING
    }

    "print only what is its own in a subshell, also when that is killed" in inShell { shell =>
      shell.run("echo out; echo err >&2; kill -9 $BASHPID", subshell = true).output.utf8String shouldBe "out\nerr\n"
      shell.run("echo \"open", subshell = true).output.utf8String should include("unexpected EOF")
      val slow = shell.run("echo begun; sleep 600", timeoutMs = Some(200), subshell = true)
      slow.command.state shouldBe State.TIMED_OUT
      slow.output.utf8String shouldBe "begun\n"
    }

    "end with the program that replaces the shell" in inShell { shell =>
      val result = shell.run("exec bash -c 'echo other; exit 5'")
      result.output.utf8String shouldBe "other\n"
      end(result.command) shouldBe ((State.SHELL_DIED, Some(Reason.SHELL_EXITED), Some(5), None))
    }

    "end when the shell is broken so that no end can come" in inShell { shell =>
      val result = shell.run("set -n")
      result.command.reason shouldBe Optional.of(Reason.FRAME_LOST)
      shell.ended().reason shouldBe "frame_lost"
    }

    "end when its shell is closed" in inShell { shell =>
      val id = shell.start("sleep 600")
      val view = shell.close()
      view.state shouldBe ShellView.State.CLOSED
      val command = shell.commands.find(_.id == id).get
      (command.state, command.reason.get) shouldBe ((State.SHELL_DIED, Reason.SHELL_CLOSED))
    }

    "end as its shell did, when that is closed" in inShell { shell =>
      shell.start("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")
      shell.outputWith("ready", 0)
      shell.close(atOnce = false)
      end(shell.commands.last) shouldBe ((State.SHELL_DIED, Some(Reason.SHELL_CLOSED), Some(3), None))
    }

    "end with SIGKILL when it ignored what should have closed its shell" in inShell { shell =>
      shell.start("trap '' TERM; echo ready; while :; do sleep 0.05; done")
      shell.outputWith("ready", 0)
      shell.close(atOnce = false)
      end(shell.commands.last) shouldBe ((State.SHELL_DIED, Some(Reason.SHELL_CLOSED), None, Some(9)))
    }

    "be refused while another runs, by that one's id" in inShell { shell =>
      val running = shell.start("sleep 600")
      shell.exec("echo no") shouldBe new Shell.Refused(new Failure.ShellBusy(running.value))
      shell.commands should have size 1
    }

    "be answered as running when the wait is over first" in inShell { shell =>
      val result = shell.run("read x; echo got $x", waitMs = 50)
      result.command.state shouldBe State.RUNNING
      shell.describe.currentCommand shouldBe Optional.of(result.command.id)
      shell.stdin("this\n")
      shell.await().last.get.exitCode shouldBe Optional.of(0)
      shell.read(0, 0).slice.data.utf8String shouldBe "got this\n"
    }

    "be answered with the end of its output that was asked for" in inShell { shell =>
      shell.run("printf 0123456789", window = new Shell.Window(3, true)).output.utf8String shouldBe "789"
      val head = shell.run("printf 0123456789", window = new Shell.Window(3, false))
      (head.output.utf8String, head.truncated) shouldBe (("012", 7))
    }

    "get its secrets, and show them nowhere" in inShell { shell =>
      val secrets = JMap.of("github", JMap.of("TOKEN", "s3cr3t-value"))
      val result = shell.run("echo ${#TOKEN} $TOKEN", secrets = secrets)
      result.output.utf8String should startWith("12 ")
      result.output.utf8String should not include "s3cr3t"
      result.command.credentialsInjected shouldBe JList.of("github")
      events(shell.persistenceId).mkString should not include "s3cr3t"
      shell.output("echo x$TOKEN") shouldBe "x\n"
    }

    "be found with its log by its id" in inShell { shell =>
      val id = shell.run("printf 0123456789").command.id
      val reply = shell.ask[Shell.CommandReply](new Shell.ReadCommand(id, 2, 4, _)).asInstanceOf[Shell.CommandRead]
      (reply.output.utf8String, reply.more) shouldBe (("2345", true))
      val unknown = CommandId.of(shell.id, 99)
      shell.ask[Shell.CommandReply](new Shell.ReadCommand(unknown, 0, 1, _)) shouldBe
        new Shell.Refused(new Failure.NotFound(Failure.Kind.COMMAND, unknown.value))
    }

    "not be told as complete once its log is pruned" in inShell { shell =>
      val pruned = shell.run("printf 0123456789").command.id
      CommandLogs.prune(workspace.logs, 0)
      def read(offset: Long) = shell
        .ask[Shell.CommandReply](new Shell.ReadCommand(pruned, offset, 100, _))
        .asInstanceOf[Shell.CommandRead]
      (read(0).output.utf8String, read(0).more, read(0).dropped, read(0).command.logBytes) shouldBe (("", false, 10, 10))
      val kept = shell.run("printf 0123").command.id
      shell
        .ask[Shell.CommandReply](new Shell.ReadCommand(kept, 0, 2, _))
        .asInstanceOf[Shell.CommandRead] should have(Symbol("more")(true), Symbol("dropped")(0))
    }

    "keep a log up to its cap" in inShell { shell =>
      val command = shell.run("printf 0123456789", logCap = 4).command
      (command.logBytes, command.logTruncated) shouldBe ((4, true))
    }
  }
}
