package io.envapi

import io.envapi.id.EnvironmentId
import io.envapi.idempotency.KeyBucket
import org.apache.pekko.actor.testkit.typed.scaladsl.TestProbe
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.persistence.testkit.{
  JournalOperation,
  ProcessingPolicy,
  ProcessingResult,
  ProcessingSuccess,
  ReadEvents,
  ReadSeqNum,
  StorageFailure,
  WriteEvents
}

import java.time.{Duration, InstantSource}
import java.util.concurrent.{CountDownLatch, TimeUnit}

/** When an actor on a journal stops, and when it goes on. */
class SupervisedSpec extends ActorBehaviour {

  private var buckets = 0

  private class Bucket {
    buckets += 1
    private val name = s"stopped-$buckets"
    val persistenceId: String = s"Idempotency|$name"
    val actor: ActorRef[KeyBucket.Command] = spawn(
      KeyBucket.create(name, new KeyBucket.Watch(InstantSource.system(), _ => true, Duration.ofMinutes(10))))
    val answers: TestProbe[Any] = createTestProbe[Any]()

    def claim(): Unit =
      actor ! new KeyBucket.Claim("k", "r", "a-1", EnvironmentId.random(), false, 20000, answers.ref)

    def hasStopped(): Unit = answers.expectTerminated(actor, longest)
  }

  /** Holds what the journal is to do until it is let go, and then has it end with `result`. */
  private class Held(result: ProcessingResult)(holds: JournalOperation => Boolean)
      extends ProcessingPolicy[JournalOperation] {
    private val begun = new CountDownLatch(1)
    private val free = new CountDownLatch(1)

    override def tryProcess(persistenceId: String, operation: JournalOperation): ProcessingResult =
      if (holds(operation)) {
        begun.countDown()
        free.await(longest.toSeconds, TimeUnit.SECONDS)
        result
      } else ProcessingSuccess

    def awaitBegun(): Unit = begun.await(longest.toSeconds, TimeUnit.SECONDS) shouldBe true

    def letGo(): Unit = free.countDown()
  }

  private def holding(result: ProcessingResult)(holds: JournalOperation => Boolean)(test: Held => Unit): Unit = {
    val held = new Held(result)(holds)
    journal.withPolicy(held)
    try test(held)
    finally {
      held.letGo()
      journal.resetPolicy()
    }
  }

  private def writes(operation: JournalOperation): Boolean = operation.isInstanceOf[WriteEvents]

  private def recovers(operation: JournalOperation): Boolean =
    operation.isInstanceOf[ReadEvents] || operation == ReadSeqNum

  "An actor that is asked to stop" should {

    "stop when what it writes is stored, and answer that" in holding(ProcessingSuccess)(writes) { write =>
      val bucket = new Bucket
      bucket.claim()
      write.awaitBegun()
      Stops.ask(bucket.actor)
      write.letGo()
      bucket.answers.receiveMessage(longest) shouldBe a[KeyBucket.Granted]
      bucket.hasStopped()
      events(bucket.persistenceId) should have size 1
    }

    "stop when it has recovered" in holding(ProcessingSuccess)(recovers) { recovery =>
      val bucket = new Bucket
      recovery.awaitBegun()
      Stops.ask(bucket.actor)
      recovery.letGo()
      bucket.hasStopped()
    }

    "stop when what it writes is not stored, and refuse that" in holding(StorageFailure())(writes) { write =>
      val bucket = new Bucket
      bucket.claim()
      write.awaitBegun()
      Stops.ask(bucket.actor)
      write.letGo()
      bucket.answers.receiveMessage(longest).toString should include("JournalUnavailable")
      bucket.hasStopped()
    }

    "stop when it is being started again" in {
      val bucket = new Bucket
      journal.failNextPersisted(bucket.persistenceId)
      bucket.claim()
      bucket.answers.receiveMessage(longest).toString should include("JournalUnavailable")
      Stops.ask(bucket.actor)
      bucket.hasStopped()
    }
  }
}
