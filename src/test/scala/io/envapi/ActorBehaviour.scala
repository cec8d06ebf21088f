package io.envapi

import com.typesafe.config.{Config, ConfigFactory}
import io.envapi.account.Quotas
import org.apache.pekko.actor.testkit.typed.scaladsl.{LogCapturing, ScalaTestWithActorTestKit}
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.persistence.testkit.scaladsl.PersistenceTestKit
import org.apache.pekko.persistence.testkit.{PersistenceTestKitPlugin, PersistenceTestKitSnapshotPlugin}
import org.scalatest.wordspec.AnyWordSpecLike

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** Actors on a journal in memory that stores what the real one would: serialized events. */
abstract class ActorBehaviour extends ScalaTestWithActorTestKit(ActorBehaviour.config) with AnyWordSpecLike with LogCapturing {

  /** Much longer than anything takes, on a busy machine too. */
  protected def longest: FiniteDuration = 20.seconds

  protected lazy val journal: PersistenceTestKit = PersistenceTestKit(system)

  override implicit val patience: PatienceConfig = PatienceConfig(longest, 20.millis)

  /** Asks, and waits for the answer. */
  protected def ask[C, R](actor: ActorRef[C])(request: ActorRef[R] => C): R = {
    val answer = createTestProbe[R]()
    actor ! request(answer.ref)
    answer.receiveMessage(longest)
  }

  /** Asks until there is an answer other than that the journal fails. */
  protected def askAgain[C, R](actor: ActorRef[C])(request: ActorRef[R] => C): R = eventually {
    val answer = createTestProbe[R]()
    actor ! request(answer.ref)
    val reply = answer.receiveMessage(500.millis)
    reply.toString should not include "JournalUnavailable"
    reply
  }

  protected def events(persistenceId: String): Seq[Any] = journal.persistedInStorage(persistenceId)

  protected def quotas(overrides: (String, Number)*): Quotas = ActorBehaviour.quotas.`with`(overrides.toMap.asJava)
}

object ActorBehaviour {

  private lazy val quotas = Quotas.from(ConfigFactory.load().getConfig("envapi"))

  def config: Config =
    PersistenceTestKitPlugin.config
      .withFallback(PersistenceTestKitSnapshotPlugin.config)
      .withFallback(ConfigFactory.parseResources("pekko.conf").withOnlyPath("envapi-output-dispatcher"))
      .withFallback(ConfigFactory.parseString("pekko.actor.allow-java-serialization = off"))
}
