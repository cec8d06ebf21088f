package io.envapi.environment

import io.envapi.account.{Account, EnvironmentSpec => Wanted, Quotas}
import io.envapi.failure.{Failure, Unavailable}
import io.envapi.files.{FileSettings, FileOperation, IfMatch, ContentEncoding, SentPath}
import io.envapi.id.{AccountId, EnvironmentId, ShellId}
import io.envapi.shell.{CommandRecord, Shell, ShellProcesses, ShellView, TerminalSize}
import io.envapi.{ActorBehaviour, RealShells}
import org.apache.pekko.actor.testkit.typed.scaladsl.TestProbe
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.util.ByteString

import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.concurrent.{CompletableFuture, CompletionStage, Executor, LinkedBlockingQueue}
import java.util.{List => JList, Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** Environments with their actors in a real sandbox, for specs. */
trait LiveEnvironments extends RealShells { this: ActorBehaviour =>

  override protected def reaperInterval: Duration = Duration.ofMillis(50)

  protected val account = new AccountId("alice")
  protected val wanted =
    new Wanted("personal", "test", JMap.of(), JList.of(), true, Wanted.LimitOverrides.NONE)
  protected val changes = new LinkedBlockingQueue[(EnvironmentId, Account.Change)]()

  /** What became of the rows of the journal, and whether they can be deleted. */
  protected object rows extends JournalRows {
    val shells = new LinkedBlockingQueue[ShellId]()
    val environments = new LinkedBlockingQueue[EnvironmentId]()
    @volatile var failing = false

    override def forget(gone: JList[ShellId]): CompletionStage[Void] = {
      shells.addAll(gone)
      CompletableFuture.completedStage(null)
    }

    override def forget(gone: EnvironmentId): CompletionStage[Void] =
      if (failing) CompletableFuture.failedStage(new IllegalStateException("no journal"))
      else {
        environments.add(gone)
        CompletableFuture.completedStage(null)
      }
  }
  protected var lastUid = 63000

  /** Holds the blocking work back while it is closed. */
  protected class Gate extends Executor {
    private val held = new LinkedBlockingQueue[Runnable]()
    @volatile private var open = true

    override def execute(task: Runnable): Unit =
      if (open) LiveEnvironments.super.blocking.execute(task) else held.add(task)

    def waiting: Int = held.size

    def close(): Unit = open = false

    /** Runs what waits, in its order and one after the other. */
    def reopen(): Unit = {
      open = true
      while (!held.isEmpty) held.poll().run()
    }
  }

  protected object gate extends Gate

  /** What is done to files alone. */
  protected object fileGate extends Gate

  override protected def blocking: Executor = gate

  /** An environment with its actor, and what its host hears of it. */
  protected class Live {
    lastUid += 1
    val uid: Int = lastUid
    val id: EnvironmentId = EnvironmentId.random()
    val host: TestProbe[EnvironmentActor.EnvironmentGone] = createTestProbe[EnvironmentActor.EnvironmentGone]()
    @volatile var effective: Quotas = quotas()

    /** Whether the account has no room for an environment that is archived. */
    @volatile var full = false
    private val environmentRuntime = new EnvironmentRuntime(
      sandbox,
      processes,
      runtime,
      new FileSettings(1 << 20, 1 << 20),
      new FileThreads(fileGate),
      audit,
      (_, changed, change) => {
        changes.add((changed, change))
        if (full && change == Account.Change.REVIVING)
          CompletableFuture.failedStage(new Unavailable(new Failure.QuotaExceeded("max_environments_per_account", 1, 1)))
        else CompletableFuture.completedStage(new Account.Noted)
      },
      rows,
      _ => CompletableFuture.completedStage(effective))
    var actor: ActorRef[Environment.Command] = start(environmentRuntime)

    private def start(on: EnvironmentRuntime): ActorRef[Environment.Command] =
      spawn(EnvironmentActor.create(id, on, host.ref))

    def persistenceId: String = s"Environment|${id.value}"

    def replaceActor(): Unit = {
      testKit.stop(actor)
      actor = start(environmentRuntime)
    }

    /** As after a restart of the service: nothing of the live shells is known. */
    def replaceService(): Unit = {
      testKit.stop(actor)
      actor = start(
        new EnvironmentRuntime(
          sandbox,
          new ShellProcesses(sandbox, runtime),
          runtime,
          environmentRuntime.files,
          environmentRuntime.fileThreads,
          audit,
          environmentRuntime.accounts,
          environmentRuntime.rows,
          environmentRuntime.quotas))
    }

    def ask[R](request: ActorRef[R] => Environment.Command): R = LiveEnvironments.this.ask(actor)(request)

    def create(): Environment.CreateReply =
      ask[Environment.CreateReply](new Environment.Create(account, wanted, uid, _))

    def describe: EnvironmentView = ask[Environment.DescribeReply](new Environment.Describe(_)) match {
      case described: Environment.Described => described.environment
      case refused => fail(refused.toString)
    }

    def tryOpen(cwd: String = ".", environment: JMap[String, String] = JMap.of()): Environment.OpenReply =
      ask[Environment.OpenReply](
        new Environment.OpenShell(cwd, environment, Optional.empty[TerminalSize], effective, _))

    def open(cwd: String = ".", environment: JMap[String, String] = JMap.of()): ShellView =
      tryOpen(cwd, environment) match {
        case opened: Environment.Opened => opened.shell
        case refused => fail(refused.toString)
      }

    def shells: Seq[ShellView] = ask[Environment.ShellsReply](new Environment.ListShells(_)) match {
      case listed: Environment.Shells => listed.shells.asScala.toSeq
      case refused => fail(refused.toString)
    }

    def toShell[R](shell: ShellId)(request: ActorRef[R] => Shell.Request): R =
      ask[R](replyTo => new Environment.ToShell(shell, request(replyTo), effective))

    def exec(shell: ShellId, command: String, waitMs: Long = 20000): Shell.ExecReply =
      toShell[Shell.ExecReply](shell)(
        new Shell.Exec(
          command,
          waitMs,
          Optional.empty[java.lang.Long],
          JMap.of(),
          JList.of(),
          new Shell.Window(1 << 20, false),
          false,
          1 << 20,
          _))

    def output(shell: ShellId, command: String): String = exec(shell, command) match {
      case done: Shell.Executed => done.result.output.utf8String
      case refused => fail(refused.toString)
    }

    def commands(shell: ShellId): Seq[CommandRecord] =
      toShell[Shell.CommandsReply](shell)(new Shell.ListCommands(_)) match {
        case listed: Shell.Commands => listed.commands.asScala.toSeq
        case refused => fail(refused.toString)
      }

    def once(command: String, stdin: String = "", timeoutMs: Long = 20000, cwd: String = "."): Environment.OnceReply =
      ask[Environment.OnceReply](
        new Environment.RunOnce(
          new Environment.Once(
            command,
            timeoutMs,
            cwd,
            JMap.of(),
            Optional.empty[TerminalSize],
            ByteString(stdin),
            JMap.of(),
            JList.of(),
            new Shell.Window(1 << 20, false)),
          effective,
          _))

    def tryReset(): Environment.DescribeReply = ask[Environment.DescribeReply](new Environment.Reset(_))

    def reset(): EnvironmentView = tryReset() match {
      case described: Environment.Described => described.environment
      case refused => fail(refused.toString)
    }

    def delete(): Environment.DeleteReply = ask[Environment.DeleteReply](new Environment.Delete(_))

    def write(path: String, content: String): Environment.FileReply =
      ask[Environment.FileReply](
        new Environment.RunFile(
          new FileOperation.WriteFile(
            SentPath.of(path),
            content,
            ContentEncoding.UTF_8,
            FileOperation.WriteMode.OVERWRITE,
            IfMatch.none,
            IfMatch.none),
          effective,
          _))

    def files: Path = sandbox.prepare(id, uid) match {
      case prepared: io.envapi.failure.Result.Ok[io.envapi.sandbox.Workspace @unchecked] => prepared.value.files
      case refused => fail(refused.toString)
    }

    def awaitChange(change: Account.Change): Unit =
      eventually(changes.asScala should contain((id, change)))
  }

  protected def inEnvironment[T](test: Live => T): T = {
    val live = new Live
    live.create() shouldBe new Environment.Created
    try test(live)
    finally {
      testKit.stop(live.actor)
      remove(live.id, live.uid)
    }
  }

  protected def notFound(environment: Live): Environment.Refused =
    new Environment.Refused(new Failure.NotFound(Failure.Kind.ENVIRONMENT, environment.id.value))

  protected def filesNamed(name: String): Seq[Path] = {
    val tree = Files.walk(root)
    try tree.iterator.asScala.filter(_.getFileName.toString.contains(name)).toList
    finally tree.close()
  }
}
