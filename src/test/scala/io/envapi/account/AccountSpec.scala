package io.envapi.account

import io.envapi.ActorBehaviour
import io.envapi.account.EnvironmentSpec.LimitOverrides
import io.envapi.failure.{Failure, Unavailable}
import io.envapi.id.{AccountId, EnvironmentId, HostId}
import org.apache.pekko.actor.Status
import org.apache.pekko.actor.typed.{ActorRef, Behavior}
import org.apache.pekko.persistence.testkit.scaladsl.EventSourcedBehaviorTestKit

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.{List => JList, Map => JMap, Optional}
import scala.jdk.CollectionConverters._

/** What an account has, and that no create goes past its quotas. */
class AccountSpec extends ActorBehaviour {

  private val host = new HostId("host-1")
  private var accounts = 0

  private type Kit = EventSourcedBehaviorTestKit[Account.Command, AccountEvent, AccountState]

  /** A placer that remembers what it is asked, and answers if it is to. */
  private class Hosts(var available: Boolean = true, var answers: Boolean = true, var settles: Boolean = true) extends Account.Placer {
    val asked = new ConcurrentLinkedQueue[EnvironmentId]()
    @volatile var chosen = 0

    override def choose(): Optional[HostId] = {
      chosen += 1
      if (available) Optional.of(host) else Optional.empty[HostId]
    }

    override def place(
        chosen: HostId,
        account: AccountId,
        id: EnvironmentId,
        spec: EnvironmentSpec,
        replyTo: ActorRef[Account.Placement]): Unit = {
      asked.add(id)
      if (answers) replyTo ! new Account.Placed(id)
    }

    override def settle(chosen: HostId, id: EnvironmentId, replyTo: ActorRef[Account.Placement]): Unit = {
      if (settles) replyTo ! new Account.Unmade(id)
    }
  }

  private def behavior(hosts: Account.Placer, overrides: (String, Number)*): Behavior[Account.Command] = {
    accounts += 1
    AccountActor.create(new AccountId(s"account-$accounts"), quotas(overrides: _*), hosts)
  }

  /** Serializes all that goes through it, commands and states too. */
  private def account(hosts: Account.Placer, overrides: (String, Number)*): Kit =
    EventSourcedBehaviorTestKit[Account.Command, AccountEvent, AccountState](system, behavior(hosts, overrides: _*))

  private def spec(profile: String = "personal", limits: LimitOverrides = LimitOverrides.NONE): EnvironmentSpec =
    new EnvironmentSpec(profile, "name", JMap.of("k", "v"), JList.of("github"), true, limits)

  private def create(kit: Kit, wanted: EnvironmentSpec = spec()): Account.CreateReply = {
    val answer = createTestProbe[Account.CreateReply]()
    kit.runCommand(new Account.Create(EnvironmentId.random(), wanted, answer.ref))
    answer.receiveMessage(longest)
  }

  private def changed(kit: Kit, id: EnvironmentId, change: Account.Change) =
    kit.runCommand[Account.Noted](new Account.Changed(id, change, _))

  private def nobody: ActorRef[Account.CreateReply] = createTestProbe[Account.CreateReply]().ref

  private def created(kit: Kit, profile: String = "personal"): EnvironmentId =
    create(kit, spec(profile)) match {
      case made: Account.Created => made.id
      case refused => fail(refused.toString)
    }

  /** An account that was ended while a host was asked to make its only environment. */
  private def cutOff(hosts: Hosts): Kit = {
    val kit = account(hosts, "max_environments_per_profile" -> 1)
    hosts.answers = false
    kit.runCommand(new Account.Create(EnvironmentId.random(), spec(), nobody))
    kit.restart()
    kit
  }

  private def find(kit: Kit, id: EnvironmentId): Account.FindReply =
    kit.runCommand[Account.FindReply](new Account.Find(id, _)).reply

  private def listed(kit: Kit): Seq[EnvironmentId] =
    kit.runCommand[Account.Listed](new Account.ListEnvironments(_)).reply.environments.asScala.map(_.id).toSeq

  private def exceeded(limit: String, current: Long, maximum: Long): Account.Refused =
    new Account.Refused(new Failure.QuotaExceeded(limit, current, maximum))

  "An account" should {

    "make an environment on a host and know where it is" in {
      val kit = account(new Hosts)
      val id = created(kit)
      find(kit, id) match {
        case found: Account.Found =>
          (found.host, found.inProfile, found.inAccount) shouldBe ((host, 1, 1))
          found.quotas shouldBe quotas()
        case other => fail(other.toString)
      }
    }

    "store a place before the environment is made, and its making after" in {
      val hosts = new Hosts(answers = false)
      val kit = account(hosts)
      val result = kit.runCommand(new Account.Create(EnvironmentId.random(), spec(), nobody))
      val reserved = result.eventOfType[AccountEvent.EnvironmentReserved]
      reserved.id shouldBe hosts.asked.peek
      kit.runCommand(new Account.Placed(reserved.id)).event shouldBe new AccountEvent.EnvironmentPlaced(reserved.id)
    }

    "not know an environment that is still being made" in {
      val hosts = new Hosts(answers = false)
      val kit = account(hosts)
      kit.runCommand(new Account.Create(EnvironmentId.random(), spec(), nobody))
      find(kit, hosts.asked.peek) shouldBe new Account.Unknown
      listed(kit) shouldBe empty
    }

    "not know an environment of nobody" in {
      find(account(new Hosts), EnvironmentId.random()) shouldBe new Account.Unknown
    }

    "list its environments, oldest first" in {
      val kit = account(new Hosts)
      val ids = Seq(created(kit), created(kit, "work"), created(kit))
      listed(kit) shouldBe ids
    }

    "have its environments after a recovery, in their order" in {
      val kit = account(new Hosts)
      val ids = (1 to 5).map(_ => created(kit))
      changed(kit, ids(1), Account.Change.ARCHIVED)
      kit.restart()
      listed(kit) shouldBe ids
      find(kit, ids.head).asInstanceOf[Account.Found].inAccount shouldBe 4
    }

    "forget an environment that was deleted" in {
      val kit = account(new Hosts)
      val id = created(kit)
      changed(kit, id, Account.Change.DELETED).event shouldBe
        new AccountEvent.EnvironmentReleased(id)
      find(kit, id) shouldBe new Account.Unknown
    }

    "store nothing about an environment that is not its own" in {
      val kit = account(new Hosts)
      Account.Change.values.foreach { change =>
        changed(kit, EnvironmentId.random(), change).hasNoEvents shouldBe true
      }
    }
  }

  "A create" should {

    "be refused past the environments of a profile" in {
      val kit = account(new Hosts, "max_environments_per_profile" -> 2)
      created(kit)
      created(kit)
      create(kit) shouldBe exceeded("max_environments_per_profile", 2, 2)
      created(kit, "work")
    }

    "be refused past the environments of the account" in {
      val kit = account(new Hosts, "max_environments_per_account" -> 2)
      created(kit)
      created(kit, "work")
      create(kit, spec("third")) shouldBe exceeded("max_environments_per_account", 2, 2)
    }

    "name the profile's quota where both are reached" in {
      val kit = account(new Hosts, "max_environments_per_account" -> 1, "max_environments_per_profile" -> 1)
      created(kit)
      create(kit) shouldBe exceeded("max_environments_per_profile", 1, 1)
    }

    "be refused when it asks for more than a quota, and by that quota's name" in {
      val most = Long.box(100)
      val over = Optional.of(Long.box(101))
      val none = Optional.empty[java.lang.Long]
      val cases = Seq(
        "max_memory_bytes" -> new LimitOverrides(over, none, none, none),
        "max_cpu_seconds" -> new LimitOverrides(none, over, none, none),
        "max_file_size_bytes" -> new LimitOverrides(none, none, over, none),
        "max_processes_per_shell" -> new LimitOverrides(none, none, none, over))
      cases.foreach { case (name, limits) =>
        val hosts = new Hosts
        create(account(hosts, name -> most), spec(limits = limits)) shouldBe exceeded(name, 101, 100)
        hosts.asked shouldBe empty
      }
    }

    "choose no host when it is refused" in {
      val hosts = new Hosts
      val kit = account(hosts, "max_environments_per_account" -> 1)
      created(kit)
      create(kit) shouldBe exceeded("max_environments_per_account", 1, 1)
      hosts.chosen shouldBe 1
    }

    "be accepted when it asks for exactly its quotas" in {
      val all = Optional.of(Long.box(100))
      val names = Seq("max_memory_bytes", "max_cpu_seconds", "max_file_size_bytes", "max_processes_per_shell")
      val kit = account(new Hosts, names.map(_ -> Long.box(100)): _*)
      create(kit, spec(limits = new LimitOverrides(all, all, all, all))) shouldBe an[Account.Created]
    }

    "be refused while no host answers" in {
      val hosts = new Hosts(available = false)
      val kit = account(hosts)
      create(kit) shouldBe new Account.Refused(new Failure.NoCapacity(5))
      hosts.available = true
      created(kit)
    }

    "give its place back when the host makes nothing" in {
      val hosts = new Hosts(answers = false)
      val kit = account(hosts, "max_environments_per_profile" -> 1)
      val answer = createTestProbe[Account.CreateReply]()
      kit.runCommand(new Account.Create(EnvironmentId.random(), spec(), answer.ref))
      create(kit) shouldBe exceeded("max_environments_per_profile", 1, 1)
      val failure = new Failure.SandboxFailed("no")
      kit.runCommand(new Account.NotPlaced(hosts.asked.peek, failure))
      answer.receiveMessage(longest) shouldBe new Account.Refused(failure)
      hosts.answers = true
      created(kit)
    }

    "not count what is archived, and count it again when it is revived" in {
      val kit = account(new Hosts, "max_environments_per_profile" -> 1)
      val id = created(kit)
      changed(kit, id, Account.Change.ARCHIVED)
      find(kit, id).asInstanceOf[Account.Found].inProfile shouldBe 0
      val other = created(kit)
      changed(kit, other, Account.Change.DELETED)
      changed(kit, id, Account.Change.REVIVED)
      create(kit) shouldBe exceeded("max_environments_per_profile", 1, 1)
    }

    "not be followed by the revival of an archived one past the quotas" in {
      val kit = account(new Hosts, "max_environments_per_profile" -> 1)
      val id = created(kit)
      changed(kit, id, Account.Change.ARCHIVED)
      val other = created(kit)
      val answer = createTestProbe[Any]()
      val refused = kit.runCommand(new Account.Changed(id, Account.Change.REVIVING, answer.ref.narrow))
      refused.hasNoEvents shouldBe true
      answer.receiveMessage(longest) match {
        case Status.Failure(unavailable: Unavailable) =>
          unavailable.failure shouldBe new Failure.QuotaExceeded("max_environments_per_profile", 1, 1)
        case reply => fail(reply.toString)
      }
      changed(kit, other, Account.Change.DELETED)
      changed(kit, id, Account.Change.REVIVING).event shouldBe new AccountEvent.EnvironmentRevived(id)
      create(kit) shouldBe exceeded("max_environments_per_profile", 1, 1)
      changed(kit, id, Account.Change.REVIVED).hasNoEvents shouldBe true
    }

    "not exceed a quota when 50 come at once" in {
      val actor = spawn(behavior(new Hosts, "max_environments_per_profile" -> 7))
      val answers = createTestProbe[Account.CreateReply]()
      (1 to 50).foreach(_ => actor ! new Account.Create(EnvironmentId.random(), spec(), answers.ref))
      val replies = answers.receiveMessages(50, longest)
      replies.collect { case made: Account.Created => made.id }.toSet should have size 7
      replies.collect { case refused: Account.Refused => refused }.toSet shouldBe
        Set(exceeded("max_environments_per_profile", 7, 7))
    }

    "not stay counted when it was never answered before a recovery" in {
      val hosts = new Hosts
      val kit = cutOff(hosts)
      hosts.answers = true
      create(kit) shouldBe an[Account.Created]
    }

    "wait after a recovery until the host has said what became of one that was cut off" in {
      val hosts = new Hosts(settles = false)
      val kit = cutOff(hosts)
      hosts.answers = true
      val answer = createTestProbe[Account.CreateReply]()
      kit.runCommand(new Account.Create(EnvironmentId.random(), spec(), answer.ref))
      answer.expectNoMessage()
      kit.runCommand(new Account.Unmade(hosts.asked.peek))
      answer.receiveMessage(longest) shouldBe an[Account.Created]
    }

    "not wait long for a host that does not answer" in {
      val kit = cutOff(new Hosts(settles = false))
      create(kit) shouldBe exceeded("max_environments_per_profile", 1, 1)
      listed(kit) shouldBe empty
    }

    "be the account's after a recovery when its host has made it" in {
      val hosts = new Hosts(settles = false)
      val kit = cutOff(hosts)
      val list = createTestProbe[Account.Listed]()
      val found = createTestProbe[Account.FindReply]()
      kit.runCommand(new Account.ListEnvironments(list.ref))
      kit.runCommand(new Account.Find(hosts.asked.peek, found.ref))
      kit.runCommand(new Account.Placed(hosts.asked.peek))
      list.receiveMessage(longest).environments.asScala.map(_.id) shouldBe Seq(hosts.asked.peek)
      found.receiveMessage(longest) shouldBe an[Account.Found]
    }

    "be made when it is asked for again after a recovery, and its host has not made it" in {
      val hosts = new Hosts(answers = false)
      val kit = account(hosts, "max_environments_per_profile" -> 1)
      val id = EnvironmentId.random()
      kit.runCommand(new Account.Create(id, spec(), nobody))
      hosts.settles = false
      kit.restart()
      val answer = createTestProbe[Account.CreateReply]()
      kit.runCommand(new Account.Create(id, spec(), answer.ref))
      hosts.answers = true
      kit.runCommand(new Account.Unmade(id))
      answer.receiveMessage(longest) shouldBe new Account.Created(id, host)
      hosts.asked.asScala.toSeq shouldBe Seq(id, id)
      listed(kit) shouldBe Seq(id)
    }

    "be answered again by what it made, under the same id" in {
      val hosts = new Hosts
      val kit = account(hosts, "max_environments_per_account" -> 1)
      val id = EnvironmentId.random()
      val answers = createTestProbe[Account.CreateReply]()
      (1 to 3).foreach(_ => kit.runCommand(new Account.Create(id, spec(), answers.ref)))
      answers.receiveMessages(3, longest).toSet shouldBe Set(new Account.Created(id, host))
      hosts.asked should have size 1
    }

    "answer all that ask for the same id while it is made" in {
      val hosts = new Hosts(answers = false)
      val kit = account(hosts)
      val id = EnvironmentId.random()
      val answers = createTestProbe[Account.CreateReply]()
      (1 to 3).foreach(_ => kit.runCommand(new Account.Create(id, spec(), answers.ref)))
      answers.expectNoMessage()
      kit.runCommand(new Account.Placed(id))
      answers.receiveMessages(3, longest).toSet shouldBe Set(new Account.Created(id, host))
      hosts.asked should have size 1
    }

    "not be undone by an answer that comes late" in {
      val kit = account(new Hosts)
      val id = created(kit)
      kit.runCommand(new Account.NotPlaced(id, new Failure.Internal())).hasNoEvents shouldBe true
      listed(kit) shouldBe Seq(id)
      changed(kit, id, Account.Change.DELETED)
      kit.runCommand(new Account.Placed(id)).hasNoEvents shouldBe true
      listed(kit) shouldBe empty
    }

    "be refused at once when the journal fails" in {
      val actor = spawn(behavior(new Hosts))
      journal.failNextPersisted(s"Account|account-$accounts")
      ask[Account.Command, Account.CreateReply](actor)(new Account.Create(EnvironmentId.random(), spec(), _)) shouldBe
        new Account.Refused(new Failure.JournalUnavailable(2))
    }

    "have no effect when the journal fails" in {
      val hosts = new Hosts
      val actor = spawn(behavior(hosts, "max_environments_per_profile" -> 1))
      val persistenceId = s"Account|account-$accounts"
      journal.failNextPersisted(persistenceId)
      actor ! new Account.Create(EnvironmentId.random(), spec(), nobody)
      val answers = createTestProbe[Account.CreateReply]()
      eventually {
        actor ! new Account.Create(EnvironmentId.random(), spec(), answers.ref)
        answers.receiveMessage(scala.concurrent.duration.Duration(3, "seconds")) shouldBe an[Account.Created]
      }
      hosts.asked should have size 1
    }
  }

  "Quotas" should {

    "be the deployment's until they are overridden" in {
      val kit = account(new Hosts)
      kit.runCommand[Account.QuotasReply](new Account.ReadQuotas(_)).reply shouldBe
        new Account.QuotasReply(quotas(), JMap.of(), quotas())
    }

    "be overridden as a whole, and stay so after a recovery" in {
      val kit = account(new Hosts)
      kit.runCommand[Account.QuotasReply](
        new Account.OverrideQuotas(JMap.of("max_cpu_seconds", Long.box(5)), _))
      val overrides = JMap.of[String, Number]("max_memory_bytes", 1L << 40, "shell_idle_ttl_seconds", 1.5)
      val reply = kit.runCommand[Account.QuotasReply](new Account.OverrideQuotas(overrides, _)).reply
      reply.effective shouldBe quotas("max_memory_bytes" -> (1L << 40), "shell_idle_ttl_seconds" -> 1.5)
      reply.defaults shouldBe quotas()
      kit.restart()
      val recovered = kit.runCommand[Account.QuotasReply](new Account.ReadQuotas(_)).reply
      recovered.effective shouldBe reply.effective
      recovered.overrides shouldBe overrides
    }

    "apply to the next create" in {
      val kit = account(new Hosts)
      created(kit)
      kit.runCommand[Account.QuotasReply](
        new Account.OverrideQuotas(JMap.of("max_environments_per_account", Long.box(1)), _))
      create(kit) shouldBe exceeded("max_environments_per_account", 1, 1)
      kit.runCommand[Account.QuotasReply](new Account.OverrideQuotas(JMap.of[String, Number](), _))
      created(kit)
    }
  }
}
