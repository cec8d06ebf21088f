package io.envapi.host

import io.envapi.account.{Account, EnvironmentSpec, Quotas}
import io.envapi.environment.{Environment, EnvironmentRuntime, FileThreads, JournalRows}
import io.envapi.failure.Failure
import io.envapi.files.FileSettings
import io.envapi.id.{AccountId, EnvironmentId, HostId, ShellId}
import io.envapi.sandbox.SandboxSettings
import io.envapi.shell.{Shell, ShellProcesses, ShellView, TerminalSize}
import io.envapi.{ActorBehaviour, RealShells}
import org.apache.pekko.actor.typed.ActorRef

import java.util.concurrent.{CompletableFuture, CompletionStage}
import java.util.{List => JList, Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** A host's actor: where environments are placed, with which uid, and how they are reached. */
class HostSpec extends ActorBehaviour with RealShells {

  private val account = new AccountId("alice")
  private val wanted =
    new EnvironmentSpec("personal", "test", JMap.of(), JList.of(), true, EnvironmentSpec.LimitOverrides.NONE)
  private var hosts = 0

  /** The journal in memory keeps all rows. */
  private object NoRows extends JournalRows {
    override def forget(shells: JList[ShellId]): CompletionStage[Void] = CompletableFuture.completedStage(null)
    override def forget(environment: EnvironmentId): CompletionStage[Void] = CompletableFuture.completedStage(null)
  }

  /** A host with `uids` uids. */
  private class Live(uids: Int) {
    hosts += 1
    val id = new HostId(s"host-$hosts")
    val base: Int = 63000 + 10 * hosts
    private val settings = new SandboxSettings(
      sandboxSettings.root,
      sandboxSettings.minTier,
      sandboxSettings.forcedTier,
      sandboxSettings.shellBinary,
      base,
      uids,
      sandboxSettings.extraReadOnlyPaths,
      true)
    var actor: ActorRef[Host.Command] = start(processes)

    private def start(known: ShellProcesses): ActorRef[Host.Command] = {
      val runtimeOfAll = new EnvironmentRuntime(
        sandbox,
        known,
        runtime,
        new FileSettings(1 << 20, 1 << 20),
        new FileThreads(blocking),
        audit,
        (_, _, _) => CompletableFuture.completedStage(new Account.Noted),
        NoRows,
        _ => CompletableFuture.completedStage[Quotas](quotas()))
      spawn(HostActor.create(id, runtimeOfAll, settings))
    }

    /** @param leaving places of environments that the service before had no time to make */
    def replaceService(leaving: Seq[EnvironmentId] = Seq.empty): Unit = {
      testKit.stop(actor)
      if (leaving.nonEmpty)
        journal.persistForRecovery(
          persistenceId,
          leaving.zipWithIndex.map { case (id, number) =>
            new HostEvent.EnvironmentPlaced(id, account, "personal", base + 10 + number, 0)
          })
      actor = start(new ShellProcesses(sandbox, runtime))
    }

    def persistenceId: String = s"Host|${id.value}"

    def tryPlace(environment: EnvironmentId): Account.Placement =
      ask(actor)(new Host.Place(account, environment, wanted, _: ActorRef[Account.Placement]))

    def place(): EnvironmentId = {
      val environment = EnvironmentId.random()
      tryPlace(environment) shouldBe new Account.Placed(environment)
      environment
    }

    def settle(environment: EnvironmentId): Account.Placement =
      ask(actor)(new Host.Settle(environment, _: ActorRef[Account.Placement]))

    def listed: Seq[EnvironmentId] =
      ask(actor)(new Host.ListEnvironments(_: ActorRef[Host.Listed])).environments.asScala.map(_.id).toSeq

    def deliver[R](environment: EnvironmentId)(request: ActorRef[R] => Environment.Request): R =
      ask(actor)((replyTo: ActorRef[R]) => new Host.Deliver(environment, request(replyTo)))

    def describe(environment: EnvironmentId): Environment.DescribeReply =
      deliver[Environment.DescribeReply](environment)(new Environment.Describe(_))

    def open(environment: EnvironmentId): ShellId =
      deliver[Environment.OpenReply](environment)(
        new Environment.OpenShell(".", JMap.of(), Optional.empty[TerminalSize], quotas(), _)) match {
        case opened: Environment.Opened => opened.shell.id
        case refused => fail(refused.toString)
      }

    def delete(environment: EnvironmentId): Unit = {
      deliver[Environment.DeleteReply](environment)(new Environment.Delete(_)) shouldBe new Environment.Deleted
      eventually(listed should not contain environment)
    }

    def uids: Seq[Int] = events(persistenceId).collect { case placed: HostEvent.EnvironmentPlaced => placed.uid - base }
  }

  private def onHost[T](uids: Int)(test: Live => T): T = {
    val live = new Live(uids)
    try test(live)
    finally {
      live.listed.foreach(live.delete)
      testKit.stop(live.actor)
    }
  }

  private def notFound(environment: EnvironmentId): Environment.Refused =
    new Environment.Refused(new Failure.NotFound(Failure.Kind.ENVIRONMENT, environment.value))

  "A host" should {

    "make environments and list them, oldest first" in onHost(5) { host =>
      val ids = Seq(host.place(), host.place(), host.place())
      host.listed shouldBe ids
      host.describe(ids(1)).asInstanceOf[Environment.Described].environment.id shouldBe ids(1)
    }

    "refuse what is for an environment that is not on it" in onHost(5) { host =>
      val unknown = EnvironmentId.random()
      host.describe(unknown) shouldBe notFound(unknown)
      val shell = ShellId.of(unknown, 1)
      host.deliver[Shell.DescribeReply](unknown)(replyTo =>
        new Environment.ToShell(shell, new Shell.Describe(replyTo), quotas())) shouldBe
        new Shell.Refused(new Failure.NotFound(Failure.Kind.SHELL, shell.value))
    }

    "give each environment a uid of its own" in onHost(5) { host =>
      (1 to 3).foreach(_ => host.place())
      host.uids shouldBe Seq(0, 1, 2)
    }

    "refuse an environment when all uids are taken, and take it when one is free" in onHost(2) { host =>
      val first = host.place()
      host.place()
      val third = EnvironmentId.random()
      host.tryPlace(third) shouldBe new Account.NotPlaced(third, new Failure.NoCapacity(60))
      host.delete(first)
      host.place()
      host.uids shouldBe Seq(0, 1, 0)
    }

    "let a uid rest before it is used again, after a restart too" in onHost(3) { host =>
      host.delete(host.place())
      host.replaceService()
      host.delete(host.place())
      host.place()
      host.place()
      host.uids shouldBe Seq(0, 1, 2, 0)
    }

    "make an environment once, however often it is asked to" in onHost(5) { host =>
      val id = host.place()
      host.open(id)
      host.tryPlace(id) shouldBe new Account.Placed(id)
      host.listed shouldBe Seq(id)
      host.describe(id).asInstanceOf[Environment.Described].environment.shells should have size 1
    }

    "say what became of a create" in onHost(5) { host =>
      val id = host.place()
      host.settle(id) shouldBe new Account.Placed(id)
      host.delete(id)
      host.settle(id) shouldBe new Account.Unmade(id)
    }

    "make an environment that is asked for again while the place a create left behind is removed" in onHost(20) { host =>
      val ids = (1 to 10).map(_ => EnvironmentId.random())
      host.replaceService(leaving = ids)
      ids.foreach { id =>
        host.settle(id) shouldBe new Account.Unmade(id)
        host.tryPlace(id) shouldBe new Account.Placed(id)
        host.describe(id).asInstanceOf[Environment.Described].environment.id shouldBe id
      }
      host.listed.toSet shouldBe ids.toSet
    }

    "forget an environment that was deleted" in onHost(5) { host =>
      val id = host.place()
      host.delete(id)
      host.describe(id) shouldBe notFound(id)
      events(host.persistenceId).last shouldBe new HostEvent.EnvironmentRemoved(id)
    }

    "make nothing when the journal fails" in onHost(5) { host =>
      journal.failNextPersisted(host.persistenceId)
      val refused = EnvironmentId.random()
      host.tryPlace(refused) shouldBe new Account.NotPlaced(refused, new Failure.JournalUnavailable(2))
      askAgain(host.actor)(new Host.ListEnvironments(_: ActorRef[Host.Listed])).environments shouldBe empty
      val id = host.place()
      host.listed shouldBe Seq(id)
      host.uids shouldBe Seq(0)
    }
  }

  "A restarted host" should {

    "have its environments, and end what was left running in them without being asked" in onHost(5) { host =>
      val id = host.place()
      val shell = host.open(id)
      val left = processes.find(shell).get.started.shell
      host.replaceService()
      eventually(left.isAlive shouldBe false)
      host.listed shouldBe Seq(id)
      val view = host.describe(id).asInstanceOf[Environment.Described].environment
      view.shells.asScala.map(_.state) shouldBe Seq(ShellView.State.DEAD)
    }
  }
}
