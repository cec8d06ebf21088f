package io.envapi

import io.envapi.audit.{AuditLog, AuditSettings}
import io.envapi.id.EnvironmentId
import io.envapi.linux.Poller
import io.envapi.sandbox.{Sandbox, SandboxProbe, SandboxSettings, SandboxTier, Workspace}
import io.envapi.shell.{ShellMeter, ShellProcesses, ShellRuntime, ShellSettings}
import org.apache.pekko.stream.Materializer
import org.scalatest.BeforeAndAfterAll

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.Optional
import java.util.concurrent.{Executor, Executors}
import scala.jdk.CollectionConverters._
import scala.util.Using

/** What shells need of a host, below a data root that goes with the spec. */
trait RealShells extends BeforeAndAfterAll { this: ActorBehaviour =>

  protected def reaperInterval: Duration = Duration.ofMinutes(10)

  protected lazy val root: Path = {
    val made = Files.createTempDirectory("actor-spec")
    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx--x--x"))
    made
  }

  protected lazy val sandboxSettings: SandboxSettings =
    new SandboxSettings(
      root,
      SandboxTier.DIRECTORY,
      Optional.empty[SandboxTier],
      Path.of("/bin/bash"),
      63000,
      1000,
      java.util.List.of[Path],
      true)

  protected lazy val sandbox: Sandbox =
    SandboxProbe.probe(sandboxSettings) match {
      case chosen: SandboxProbe.Outcome.Chosen => chosen.sandbox
      case refused => throw new IllegalStateException(refused.toString)
    }

  private lazy val threads = Executors.newFixedThreadPool(16, Thread.ofPlatform.daemon.factory)

  private lazy val poller = Poller.start()

  /** Where the actors' blocking work runs. */
  protected def blocking: Executor = threads

  protected lazy val runtime: ShellRuntime =
    new ShellRuntime(
      poller,
      Materializer.createMaterializer(system),
      blocking,
      Executors.newVirtualThreadPerTaskExecutor(),
      new ShellSettings(Duration.ofMillis(300), reaperInterval, 4, 1 << 20, 0),
      ShellMeter.NONE)

  protected lazy val processes: ShellProcesses = new ShellProcesses(sandbox, runtime)

  protected lazy val audit: AuditLog = AuditLog.open(
    Files.createDirectory(root.resolve("audit")),
    new AuditSettings(Duration.ofDays(1), 1L << 30))

  /** Everything an environment has on the host. */
  protected def remove(environment: EnvironmentId, uid: Int): Unit =
    sandbox.prepare(environment, uid) match {
      case prepared: io.envapi.failure.Result.Ok[Workspace @unchecked] =>
        processes.dropSpare(environment)
        processes.of(environment).asScala.foreach(_.started.members.killAll())
        sandbox.remove(environment, prepared.value)
      case refused => fail(refused.toString)
    }

  override def afterAll(): Unit = {
    super.afterAll()
    poller.close()
    threads.shutdownNow()
    Using.resource(Files.walk(root)) { tree =>
      tree.iterator.asScala.toList.reverse.foreach(path => Files.deleteIfExists(path))
    }
  }
}
