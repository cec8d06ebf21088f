package io.envapi.idempotency

import io.envapi.ActorBehaviour
import io.envapi.id.EnvironmentId
import org.apache.pekko.actor.typed.ActorRef
import org.apache.pekko.persistence.testkit.scaladsl.EventSourcedBehaviorTestKit

import java.time.{Duration, Instant, InstantSource}
import java.util.{List => JList, Optional}

/** What becomes of the requests of one key, whatever happens to the service between. */
class KeyBucketSpec extends ActorBehaviour {

  private type Kit = EventSourcedBehaviorTestKit[KeyBucket.Command, KeyEvent, KeyState]

  private var buckets = 0

  /** A bucket with a clock and a service that can be replaced. */
  private class Bucket {
    buckets += 1
    @volatile var now: Instant = Instant.parse("2026-01-01T00:00:00Z")
    @volatile var service = "a"
    private val clock: InstantSource = () => now
    private val watch = new KeyBucket.Watch(clock, claimant => claimant.startsWith(service), Duration.ofMinutes(10))
    val name = s"bucket-$buckets"
    val behavior = KeyBucket.create(name, watch)
    lazy val kit: Kit = EventSourcedBehaviorTestKit[KeyBucket.Command, KeyEvent, KeyState](system, behavior)
    private var claims = 0

    def claimant(): String = {
      claims += 1
      s"$service-$claims"
    }

    def claim(
        key: String,
        request: String = "r",
        repeatable: Boolean = false,
        environment: EnvironmentId = EnvironmentId.random(),
        as: String = claimant(),
        patienceMs: Long = 20000)(replyTo: ActorRef[KeyBucket.ClaimReply]): KeyBucket.Claim =
      new KeyBucket.Claim(key, request, as, environment, repeatable, patienceMs, replyTo)

    def claimed(command: ActorRef[KeyBucket.ClaimReply] => KeyBucket.Command): KeyBucket.ClaimReply =
      kit.runCommand[KeyBucket.ClaimReply](command).reply

    def finish(key: String, as: String, outcome: KeyBucket.Outcome): Unit =
      kit.runCommand[KeyBucket.Noted](new KeyBucket.Finish(key, as, outcome, _)).reply shouldBe new KeyBucket.Noted

    def grant(key: String): String = {
      val as = claimant()
      claimed(claim(key, as = as)) shouldBe a[KeyBucket.Granted]
      as
    }

    def answered(key: String): Unit = finish(key, grant(key), new KeyBucket.Answered(answer))
  }

  private val answer = stored("{}")

  private def stored(body: String) =
    new StoredAnswer(201, "application/json", JList.of(new StoredAnswer.Header("ETag", "x")), Optional.of(body))

  private val replay = new KeyBucket.Replay(answer)

  "A key" should {

    "give the stored answer to the same request, after a recovery too" in {
      val bucket = new Bucket
      bucket.answered("k")
      bucket.claimed(bucket.claim("k")) shouldBe replay
      bucket.kit.restart()
      bucket.claimed(bucket.claim("k")) shouldBe replay
    }

    "be claimed in the journal before its request is carried out" in {
      val bucket = new Bucket
      val environment = EnvironmentId.random()
      val result = bucket.kit.runCommand[KeyBucket.ClaimReply](bucket.claim("k", environment = environment)(_))
      result.event shouldBe new KeyEvent.KeyClaimed("k", "r", "a-1", environment, bucket.now.toEpochMilli)
      result.reply shouldBe new KeyBucket.Granted(environment)
    }

    "be granted once more to who holds it, and did not hear so" in {
      val bucket = new Bucket
      val environment = EnvironmentId.random()
      val as = bucket.claimant()
      val first = bucket.claimed(bucket.claim("k", environment = environment, as = as))
      first shouldBe new KeyBucket.Granted(environment)
      val again = bucket.kit.runCommand[KeyBucket.ClaimReply](bucket.claim("k", as = as)(_))
      again.reply shouldBe first
      again.hasNoEvents shouldBe true
    }

    "be refused for another request, answered or not" in {
      val bucket = new Bucket
      bucket.grant("open")
      bucket.answered("done")
      Seq("open", "done").foreach { key =>
        bucket.claimed(bucket.claim(key, request = "other")) shouldBe new KeyBucket.OtherRequest
      }
    }

    "make the others wait while its request runs, and give them its answer" in {
      val bucket = new Bucket
      val first = bucket.grant("k")
      val others = createTestProbe[KeyBucket.ClaimReply]()
      (1 to 3).foreach(_ => bucket.kit.runCommand(bucket.claim("k")(others.ref)))
      others.expectNoMessage()
      bucket.finish("k", first, new KeyBucket.Answered(answer))
      others.receiveMessages(3, longest).toSet shouldBe Set(replay)
    }

    "make the others wait no longer than they want" in {
      val bucket = new Bucket
      bucket.grant("k")
      val other = createTestProbe[KeyBucket.ClaimReply]()
      bucket.kit.runCommand(bucket.claim("k", patienceMs = 50)(other.ref))
      other.receiveMessage(longest) shouldBe new KeyBucket.StillRunning
    }

    "be free again after a request without effect, for one of those who wait" in {
      val bucket = new Bucket
      val first = bucket.grant("k")
      val others = createTestProbe[KeyBucket.ClaimReply]()
      (1 to 2).foreach(_ => bucket.kit.runCommand(bucket.claim("k")(others.ref)))
      bucket.finish("k", first, new KeyBucket.NoEffect)
      others.receiveMessage(longest) shouldBe a[KeyBucket.Granted]
      others.expectNoMessage()
      bucket.claimed(bucket.claim("k", request = "other")) shouldBe new KeyBucket.OtherRequest
    }

    "be interrupted when the service that claimed it has ended" in {
      val bucket = new Bucket
      bucket.grant("k")
      bucket.service = "b"
      bucket.kit.restart()
      bucket.claimed(bucket.claim("k")) shouldBe new KeyBucket.Interrupted
      bucket.claimed(bucket.claim("k", request = "other")) shouldBe new KeyBucket.OtherRequest
    }

    "be carried out again with the same id when that does no harm" in {
      val bucket = new Bucket
      val environment = EnvironmentId.random()
      bucket.claimed(bucket.claim("k", environment = environment))
      bucket.service = "b"
      val again = bucket.claimant()
      bucket.claimed(bucket.claim("k", repeatable = true, as = again)) shouldBe new KeyBucket.Granted(environment)
      bucket.finish("k", "a-1", new KeyBucket.Answered(stored("late")))
      bucket.finish("k", again, new KeyBucket.Answered(answer))
      bucket.claimed(bucket.claim("k")) shouldBe replay
    }

    "be interrupted when nobody knows how its request ended, or when it took too long" in {
      val bucket = new Bucket
      bucket.finish("k", bucket.grant("k"), new KeyBucket.Unknown)
      bucket.claimed(bucket.claim("k")) shouldBe new KeyBucket.Interrupted
      bucket.grant("long")
      bucket.now = bucket.now.plus(Duration.ofMinutes(10))
      bucket.claimed(bucket.claim("long")) shouldBe new KeyBucket.Interrupted
    }

    "be forgotten after 24 hours, and not before" in {
      val bucket = new Bucket
      bucket.answered("k")
      bucket.now = bucket.now.plus(Duration.ofHours(24).minusMillis(1))
      bucket.claimed(bucket.claim("k")) shouldBe replay
      bucket.now = bucket.now.plusMillis(1)
      bucket.grant("k")
      bucket.kit.getState().entries should have size 1
    }

    "leave the state with the first one that comes after its time" in {
      val bucket = new Bucket
      (1 to 20).foreach(i => bucket.answered(s"k$i"))
      bucket.now = bucket.now.plus(Duration.ofHours(25))
      bucket.grant("new")
      bucket.kit.getState().entries.keySet should contain only "new"
    }
  }

  "A bucket" should {

    "refuse keys beyond the bytes it may hold, and forget none for them" in {
      val bucket = new Bucket
      val large = stored("x" * (250 * 1024))
      (1 to 8).foreach(i => bucket.finish(s"k$i", bucket.grant(s"k$i"), new KeyBucket.Answered(large)))
      bucket.now = bucket.now.plus(Duration.ofHours(23))
      bucket.claimed(bucket.claim("more")) shouldBe new KeyBucket.Full(3601)
      bucket.claimed(bucket.claim("k1")) shouldBe new KeyBucket.Replay(large)
      bucket.now = bucket.now.plus(Duration.ofHours(1))
      bucket.grant("more")
    }

    "keep no more bytes than it may hold when many requests end at once" in {
      val bucket = new Bucket
      val large = stored("x" * (250 * 1024))
      val granted = (1 to 20).map(i => bucket.grant(s"k$i"))
      granted.zipWithIndex.foreach { case (grant, i) =>
        bucket.finish(s"k${i + 1}", grant, new KeyBucket.Answered(large))
      }
      bucket.claimed(bucket.claim("k1")) shouldBe new KeyBucket.Replay(large)
      bucket.claimed(bucket.claim("k20")) shouldBe new KeyBucket.Replay(large.withoutBody)
    }

    "refuse keys beyond the number it may hold" in {
      var state = KeyState.EMPTY
      (1 to KeyState.MOST_KEYS).foreach { i =>
        state.isFull(1) shouldBe false
        state = state.`with`(new KeyEvent.KeyClaimed(s"k$i", "r", "a-1", EnvironmentId.random(), 1))
      }
      state.isFull(1) shouldBe true
      state.isFull(1 + KeyState.KEPT.toMillis) shouldBe false
    }

    "fail a claim when the journal does, and grant it when it is back" in {
      val bucket = new Bucket
      val actor = spawn(bucket.behavior)
      journal.failNextPersisted(s"Idempotency|${bucket.name}")
      val failed = createTestProbe[Any]()
      actor ! bucket.claim("k")(failed.ref.unsafeUpcast[Any].narrow)
      failed.receiveMessage(longest).toString should include("JournalUnavailable")
      askAgain[KeyBucket.Command, KeyBucket.ClaimReply](actor)(bucket.claim("k")(_)) shouldBe a[KeyBucket.Granted]
    }
  }
}
