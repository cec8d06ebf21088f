package io.envapi.shell

import io.envapi.failure.{Failure, Result}
import io.envapi.id.{CommandId, EnvironmentId, ShellId}
import io.envapi.sandbox.Limits
import io.envapi.shell.CommandRecord.{Reason, State}
import io.envapi.{ActorBehaviour, RealShells}
import org.apache.pekko.actor.testkit.typed.scaladsl.TestProbe
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.util.ByteString

import java.util.{List => JList, Map => JMap, Optional, OptionalLong}
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

/** Real shells with their actors, for specs. */
trait LiveShells extends RealShells { this: ActorBehaviour =>

  protected val environment = EnvironmentId.random()
  protected lazy val workspace = ok(sandbox.prepare(environment, 63000))
  protected var opened = 0

  protected def ok[T](result: Result[T]): T = result match {
    case value: Result.Ok[T @unchecked] => value.value
    case refused => fail(refused.toString)
  }

  override def afterAll(): Unit = {
    remove(environment, 63000)
    super.afterAll()
  }

  /** A live shell with its actor, and what its environment hears of it. */
  protected class Live(terminal: Boolean = false) {
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
            Optional.empty[String],
            1 << 20),
          Optional.empty[ShellId]))
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

    def ask[R](request: ActorRef[R] => Shell.Command): R = LiveShells.this.ask(actor)(request)

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

    /** As {@link #start}, and waits for the command to print "ready". */
    def started(command: String): CommandId = {
      val cursor = describe.cursor
      val id = start(command)
      outputWith("ready", cursor)
      id
    }

    def result(command: CommandId): CommandResult =
      ask[Shell.ExecReply](new Shell.ReadResult(command, new Shell.Window(1 << 20, false), _)) match {
        case done: Shell.Executed => done.result
        case refused => fail(refused.toString)
      }

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
      ask[Shell.StdinReply](new Shell.WriteStdin(ByteString(text), tty, at, eof, false, _))
    }

    /** As somebody who follows the shell and has heard of all that happened to its commands. */
    def read(cursor: Long, waitMs: Long): Shell.Followed =
      ask[Shell.FollowReply](new Shell.Follow(cursor, Int.MaxValue, 1 << 20, waitMs, _)) match {
        case news: Shell.Followed => news
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

  protected def inShell[T](test: Live => T): T = {
    val live = new Live
    try test(live)
    finally live.process.kill()
  }

  protected def inTerminal[T](test: Live => T): T = {
    val live = new Live(terminal = true)
    try test(live)
    finally live.process.kill()
  }

  protected def end(command: CommandRecord): (State, Option[Reason], Option[Int], Option[Int]) =
    (
      command.state,
      command.reason.toScala,
      command.exitCode.toScala.map(_.intValue),
      command.signal.toScala.map(_.intValue))

  protected val notRunning = new Shell.Refused(new Failure.ShellNotRunning)
}
