package io.envapi.environment

import io.envapi.ActorBehaviour
import io.envapi.shell.{Shell, ShellView}

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import scala.jdk.StreamConverters._
import scala.util.Try

class SpareShellSpec extends ActorBehaviour with LiveEnvironments {

  /** The processes of an environment on the host, by what was put into their variables. */
  private def running(live: Live): Set[Long] =
    ProcessHandle.allProcesses.toScala(Set).map(_.pid).filter { pid =>
      Try(new String(Files.readAllBytes(Path.of(s"/proc/$pid/environ")), ISO_8859_1)).toOption
        .exists(_.contains(s"ENVAPI_ENVIRONMENT_ID=${live.id.value}"))
    }

  private def output(live: Live, command: String): String =
    live.once(command) match {
      case ran: Environment.RanOnce => ran.result.output.utf8String
      case refused => fail(refused.toString)
    }

  private def numbers(live: Live): Seq[Int] = live.shells.map(_.identity.id.number)

  "A spare shell" should {

    "be waiting after a one-shot command, and run the next one" in inEnvironment { live =>
      output(live, "echo one") shouldBe "one\n"
      eventually(running(live) should not be empty)
      output(live, "echo two; exit 3") shouldBe "two\n"
      numbers(live) shouldBe Seq(1, 2)
    }

    "become the next shell that is opened" in inEnvironment { live =>
      output(live, "true")
      eventually(running(live) should not be empty)
      val spare = running(live)
      val shell = live.open().identity
      shell.id.number shouldBe 2
      spare should contain(shell.process.pid.toLong)
      live.exec(shell.id, "echo mine").asInstanceOf[Shell.Executed].result.output.utf8String shouldBe "mine\n"
      live.describe.shellsRunning shouldBe 1
    }

    "be waiting once an environment has opened a second shell" in inEnvironment { live =>
      live.open().identity.id.number shouldBe 1
      live.open().identity.id.number shouldBe 2
      live.open().identity.id.number shouldBe 3
      numbers(live) shouldBe Seq(1, 2, 3)
    }

    "run one command only" in inEnvironment { live =>
      (1 to 10).foreach(n => output(live, s"echo $${seen:-none} $n; seen=$n; cd /") shouldBe s"none $n\n")
      live.shells.map(_.identity.shell).distinct should have size 10
      live.shells.map(_.state).toSet shouldBe Set(ShellView.State.CLOSED)
    }

    "be in no listing and no quota" in inEnvironment { live =>
      output(live, "true")
      eventually(running(live) should not be empty)
      live.describe.shellsRunning shouldBe 0
      live.ask[Environment.ProcessesReply](new Environment.ListProcesses(_)) match {
        case listed: Environment.Processes => listed.processes shouldBe empty
        case refused => fail(refused.toString)
      }
    }

    "not be used where the shell is wanted otherwise" in inEnvironment { live =>
      output(live, "mkdir sub")
      live.once("basename \"$PWD\"", cwd = "sub").asInstanceOf[Environment.RanOnce].result.output.utf8String shouldBe
        "sub\n"
      numbers(live) shouldBe Seq(1, 3)
    }

    "be replaced when it was killed" in inEnvironment { live =>
      output(live, "true")
      eventually(running(live) should not be empty)
      running(live).foreach(pid => ProcessHandle.of(pid).ifPresent(p => p.destroyForcibly()))
      eventually(running(live) shouldBe empty)
      output(live, "echo still") shouldBe "still\n"
    }

    "go with a reset and with the environment" in inEnvironment { live =>
      output(live, "true")
      eventually(running(live) should not be empty)
      live.reset()
      running(live) shouldBe empty
      output(live, "true")
      eventually(running(live) should not be empty)
      live.delete() shouldBe new Environment.Deleted
      running(live) shouldBe empty
    }
  }
}
