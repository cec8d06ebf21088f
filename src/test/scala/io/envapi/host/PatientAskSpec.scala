package io.envapi.host

import io.envapi.ActorBehaviour
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.cluster.sharding.typed.javadsl.{EntityRef, EntityTypeKey}
import org.apache.pekko.cluster.sharding.typed.testkit.javadsl.TestEntityRef

import java.time.Duration
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

/** Questions that may be lost on the way. */
class PatientAskSpec extends ActorBehaviour {

  private case class Question(replyTo: ActorRef[String])

  private def ask(entity: EntityRef[Question], usual: Duration, longest: Duration): CompletableFuture[String] =
    PatientAsk.ask[Question, String](entity, usual, longest, Question(_)).toCompletableFuture

  private def entity(of: ActorRef[Question]): EntityRef[Question] =
    TestEntityRef.of(EntityTypeKey.create(classOf[Question], "Asked"), "a", of)

  private val long = Duration.ofSeconds(40)

  "A question" should {

    "be asked again when it was lost" in {
      val asked = createTestProbe[Question]()
      val answer = ask(entity(asked.ref), Duration.ofMillis(400), long)
      asked.receiveMessage(longest)
      asked.receiveMessage(longest).replyTo ! "yes"
      answer.get(40, TimeUnit.SECONDS) shouldBe "yes"
    }

    "be asked once when it is answered" in {
      val asked = createTestProbe[Question]()
      val answer = ask(entity(asked.ref), long, long)
      asked.receiveMessage(longest).replyTo ! "yes"
      answer.get(40, TimeUnit.SECONDS) shouldBe "yes"
      asked.expectNoMessage()
    }

    "fail when there is no answer in all its time" in {
      val asked = createTestProbe[Question]()
      val answer = ask(entity(asked.ref), Duration.ofMillis(200), Duration.ofMillis(400))
      val failure = intercept[ExecutionException](answer.get(40, TimeUnit.SECONDS))
      failure.getCause shouldBe a[TimeoutException]
      asked.receiveMessages(2, longest)
      asked.expectNoMessage()
    }
  }
}
