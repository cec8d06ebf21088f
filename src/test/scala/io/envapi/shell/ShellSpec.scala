package io.envapi.shell

import io.envapi.failure.{Failure, Result}
import io.envapi.id.{CommandId, EnvironmentId, ShellId}
import io.envapi.sandbox.{Limits, Workspace}
import io.envapi.shell.CommandRecord.{Reason, State}
import io.envapi.{ActorSpec, RealShells}
import org.apache.pekko.actor.testkit.typed.scaladsl.TestProbe
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.util.ByteString

import java.nio.file.Files
import java.util.{List => JList, Map => JMap, Optional, OptionalLong}
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

/** A shell's actor over a real bash. */
class ShellSpec extends ActorSpec with RealShells {

  private val environment = EnvironmentId.random()
  private lazy val workspace = ok(sandbox.prepare(environment, 63000))
  private var opened = 0

  private def ok[T](result: Result[T]): T = result match {
    case value: Result.Ok[T @unchecked] => value.value
    case refused => fail(refused.toString)
  }

  override def afterAll(): Unit = {
    remove(environment, 63000)
    super.afterAll()
  }

  /** A live shell with its actor, and what its environment hears of it. */
  private class Live(terminal: Boolean = false) {
    opened += 1
    val id: ShellId = ShellId.of(environment, opened)
    private val size = if (terminal) Optional.of(TerminalSize.DEFAULT) else Optional.empty[TerminalSize]
    val process: ShellProcess =
      ok(
        processes.open(
          new ShellProcesses.Opening(
            id,
            workspace,
            ".",
            JMap.of(),
            new Limits(1000, 1L << 32, 1000, 1L << 30),
            true,
            size,
            1 << 20)))
    val spec: ShellActor.Spec = {
      val started = process.started
      val identity =
        new ShellIdentity(id, started.process, started.shell, started.pgid, ".", terminal, System.currentTimeMillis)
      new ShellActor.Spec(identity, workspace.logs, Optional.empty[ShellEnd])
    }
    val notices: TestProbe[ShellActor.Notice] = createTestProbe[ShellActor.Notice]()
    var actor: ActorRef[Shell.Command] = spawn(ShellActor.create(spec, processes, runtime, notices.ref))

    def persistenceId: String = ShellActor.persistenceId(id).id

    /** Another actor in the place of this one, as after a failure. */
    def replaceActor(known: ShellProcesses = processes): Unit = {
      testKit.stop(actor)
      actor = spawn(ShellActor.create(spec, known, runtime, notices.ref))
    }

    def ask[R](request: ActorRef[R] => Shell.Command): R = ShellSpec.this.ask(actor)(request)

    def exec(
        command: String,
        waitMs: Long = 20000,
        timeoutMs: Option[Long] = None,
        secrets: JMap[String, JMap[String, String]] = JMap.of(),
        window: Shell.Window = new Shell.Window(1 << 20, false),
        subshell: Boolean = false,
        logCap: Long = 1 << 20): Shell.ExecReply =
      ask[Shell.ExecReply](
        new Shell.Exec(
          command,
          waitMs,
          timeoutMs.map(Long.box).toJava,
          secrets,
          JList.of("absent"),
          window,
          subshell,
          logCap,
          _))

    def run(
        command: String,
        waitMs: Long = 20000,
        timeoutMs: Option[Long] = None,
        secrets: JMap[String, JMap[String, String]] = JMap.of(),
        window: Shell.Window = new Shell.Window(1 << 20, false),
        subshell: Boolean = false,
        logCap: Long = 1 << 20): CommandResult =
      exec(command, waitMs, timeoutMs, secrets, window, subshell, logCap) match {
        case done: Shell.Executed => done.result
        case refused => fail(refused.toString)
      }

    def start(command: String, timeoutMs: Option[Long] = None): CommandId = run(command, 0, timeoutMs).command.id

    def output(command: String): String = run(command).output.utf8String

    def commands: Seq[CommandRecord] = ask[Shell.CommandsReply](new Shell.ListCommands(_)) match {
      case listed: Shell.Commands => listed.commands.asScala.toSeq
      case refused => fail(refused.toString)
    }

    def describe: ShellView = ask[Shell.DescribeReply](new Shell.Describe(_)) match {
      case described: Shell.Described => described.shell
      case refused => fail(refused.toString)
    }

    def await(timeoutMs: Long = 20000): Shell.Awaited = ask[Shell.AwaitReply](new Shell.Await(timeoutMs, _)) match {
      case awaited: Shell.Awaited => awaited
      case refused => fail(refused.toString)
    }

    def stdin(text: String, offset: Option[Long] = None, eof: Boolean = false, tty: Boolean = false): Shell.StdinReply = {
      val at = offset.fold(OptionalLong.empty)(OptionalLong.of)
      ask[Shell.StdinReply](new Shell.WriteStdin(ByteString(text), tty, at, eof, _))
    }

    def read(cursor: Long, waitMs: Long): Shell.Output =
      ask[Shell.OutputReply](new Shell.ReadOutput(cursor, 1 << 20, waitMs, true, _)) match {
        case output: Shell.Output => output
        case refused => fail(refused.toString)
      }

    /** What the shell has printed from `cursor` on, once that contains {@code text}. */
    def outputWith(text: String, cursor: Long): String = eventually {
      val printed = read(cursor, 1000).slice.data.utf8String
      printed should include(text)
      printed
    }

    def close(atOnce: Boolean = true): ShellView = ask[Shell.CloseReply](new Shell.Close(atOnce, _)) match {
      case closed: Shell.Closed => closed.shell
      case refused => fail(refused.toString)
    }

    def ended(): ShellEnd = notices
      .fishForMessage(longest) {
        case _: ShellActor.Ended => org.apache.pekko.actor.testkit.typed.scaladsl.FishingOutcomes.complete
        case _ => org.apache.pekko.actor.testkit.typed.scaladsl.FishingOutcomes.continueAndIgnore
      }
      .last
      .asInstanceOf[ShellActor.Ended]
      .end
  }

  private def inShell[T](test: Live => T): T = {
    val live = new Live
    try test(live)
    finally live.process.kill()
  }

  private def inTerminal[T](test: Live => T): T = {
    val live = new Live(terminal = true)
    try test(live)
    finally live.process.kill()
  }

  private def end(command: CommandRecord): (State, Option[Reason], Option[Int], Option[Int]) =
    (
      command.state,
      command.reason.toScala,
      command.exitCode.toScala.map(_.intValue),
      command.signal.toScala.map(_.intValue))

  private val notRunning = new Shell.Refused(new Failure.ShellNotRunning)

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
      shell.run("sleep 600 & echo $! > background")
      shell.run("sleep 0.05; sleep 600", timeoutMs = Some(100)).command.state shouldBe State.TIMED_OUT
      shell.run("kill -0 $(cat background)").command.exitCode shouldBe Optional.of(0)
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

    "keep a log up to its cap" in inShell { shell =>
      val command = shell.run("printf 0123456789", logCap = 4).command
      (command.logBytes, command.logTruncated) shouldBe ((4, true))
    }
  }

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
      shell.actor ! new Shell.ReadOutput(0, 100, 20000, false, reader.ref)
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
      eventually(shell.process.below should not be empty)
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

    "resize its terminal and take input from it" in inTerminal { shell =>
      val size = new TerminalSize(40, 120)
      shell.ask[Shell.ResizeReply](new Shell.Resize(size, _)) shouldBe new Shell.Resized(size)
      shell.output("stty size < /dev/tty") should include("40 120")
      shell.start("read answer < /dev/tty; echo \"got $answer\"")
      shell.stdin("typed\n", tty = true) shouldBe a[Shell.StdinWritten]
      shell.outputWith("got typed", 0)
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

    "end when its process does, without a command" in inShell { shell =>
      shell.process.kill()
      shell.ended().reason shouldBe "signal:9"
      shell.describe.state shouldBe ShellView.State.DEAD
    }
  }

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
      shell.actor ! new Shell.Exec(
        "echo ran > ran-without-journal",
        0,
        Optional.empty[java.lang.Long],
        JMap.of(),
        JList.of(),
        new Shell.Window(10, false),
        false,
        10,
        createTestProbe[Shell.ExecReply]().ref)
      askAgain(shell.actor)(new Shell.Describe(_: ActorRef[Shell.DescribeReply]))
      shell.output("echo $x") shouldBe "kept\n"
      shell.commands.map(_.command) shouldBe Seq("x=kept", "echo $x")
      Files.exists(workspace.files.resolve("ran-without-journal")) shouldBe false
    }

    "not lose the end of a command" in inShell { shell =>
      val id = shell.start("read x; (exit 6)")
      journal.failNextPersisted(shell.persistenceId)
      shell.stdin("\n")
      eventually(shell.describe.currentCommand shouldBe Optional.empty)
      val last = shell.commands.last
      (last.id, last.exitCode.get) shouldBe ((id, 6))
      shell.output("echo next") shouldBe "next\n"
    }
  }
}
