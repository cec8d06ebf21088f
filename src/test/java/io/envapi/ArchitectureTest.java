package io.envapi;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where code may live: the packages, and which of them each may use. */
class ArchitectureTest {

  private static final String ROOT = "io.envapi.";

  /** Package to the packages of ours it may use. */
  private static final Map<String, List<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("linux", List.of()),
          Map.entry("metrics", List.of()),
          Map.entry("id", List.of()),
          Map.entry("failure", List.of()),
          Map.entry("audit", List.of("id")),
          Map.entry("process", List.of("linux")),
          Map.entry("sandbox", List.of("linux", "process", "failure", "id")),
          Map.entry("files", List.of("linux", "failure")),
          Map.entry("keyring", List.of("id", "failure")),
          Map.entry("preferences", List.of("keyring", "id", "failure")),
          Map.entry("account", List.of("id", "failure")),
          Map.entry("idempotency", List.of("id", "failure")),
          Map.entry("shell", List.of("linux", "process", "sandbox", "failure", "id")),
          Map.entry(
              "environment",
              List.of(
                  "shell", "account", "linux", "process", "sandbox", "files", "failure", "audit",
                  "id")),
          Map.entry(
              "host",
              List.of(
                  "environment",
                  "shell",
                  "account",
                  "idempotency",
                  "sandbox",
                  "files",
                  "failure",
                  "audit",
                  "id")),
          Map.entry(
              "http",
              List.of(
                  "host",
                  "metrics",
                  "environment",
                  "shell",
                  "account",
                  "idempotency",
                  "process",
                  "sandbox",
                  "files",
                  "keyring",
                  "preferences",
                  "failure",
                  "audit",
                  "id")));

  private static final Predicate<JavaMethodCall> WITHOUT_EXECUTOR =
      call ->
          call.getTargetOwner().isAssignableTo(CompletionStage.class)
              && (call.getName().endsWith("Async") || call.getName().equals("delayedExecutor"))
              && call.getTarget().getRawParameterTypes().stream()
                  .noneMatch(type -> type.isEquivalentTo(Executor.class));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.envapi");

  static Stream<String> packages() {
    return MAY_USE.keySet().stream().sorted();
  }

  @Test
  void theClassesWereRead() {
    assertThat(CLASSES.size()).isGreaterThan(20);
  }

  @Test
  void everyPackageIsInTheTable() {
    var found = new TreeSet<String>();
    for (JavaClass each : CLASSES) {
      found.add(each.getPackageName());
    }
    found.remove("io.envapi");
    found.remove(ROOT + "app");
    assertThat(MAY_USE.keySet()).map(p -> ROOT + p).containsAll(found);
  }

  @ParameterizedTest
  @MethodSource("packages")
  void dependenciesPointDown(String name) {
    var allowed =
        Stream.concat(
                Stream.of("io.envapi", ROOT + name), MAY_USE.get(name).stream().map(p -> ROOT + p))
            .toArray(String[]::new);
    var forbidden = resideInAPackage("io.envapi..").and(not(resideInAnyPackage(allowed)));
    noClasses()
        .that()
        .resideInAPackage(ROOT + name)
        .should()
        .dependOnClassesThat(forbidden)
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  @ParameterizedTest
  @MethodSource("packages")
  void theTableNamesOnlyWhatIsUsed(String name) {
    var used = new TreeSet<String>();
    for (JavaClass each : CLASSES) {
      if (each.getPackageName().equals(ROOT + name)) {
        each.getDirectDependenciesFromSelf()
            .forEach(dependency -> used.add(dependency.getTargetClass().getPackageName()));
      }
    }
    assertThat(used).containsAll(MAY_USE.get(name).stream().map(p -> ROOT + p).toList());
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.envapi.(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void onlyLinuxTouchesNativeMemory() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "linux")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("java.lang.foreign")
        .check(CLASSES);
  }

  @Test
  void onlyHttpKnowsPekkoHttp() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + "http", ROOT + "app")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.pekko.http..")
        .check(CLASSES);
  }

  @Test
  void onlyMetricsKnowsMicrometer() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "metrics")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.micrometer..")
        .check(CLASSES);
  }

  @Test
  void onlyHostKnowsTheCluster() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + "host", ROOT + "app")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.pekko.cluster..")
        .check(CLASSES);
  }

  /** Without an executor it is the pool that the whole JVM shares, which one caller can fill. */
  @Test
  void everythingAsynchronousNamesItsThreads() {
    noClasses()
        .should()
        .callMethodWhere(describe("starts work without an executor", WITHOUT_EXECUTOR))
        .check(CLASSES);
  }

  @Test
  void nothingStartsProcessesThroughTheJdk() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.ProcessBuilder")
        .check(CLASSES);
    noClasses().should().callMethod(Runtime.class, "exec", String[].class).check(CLASSES);
  }

  @Test
  void nothingWritesToTheConsoleItself() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "app")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .check(CLASSES);
  }

  @Test
  void publicClassesSayWhatTheyAreFor() throws Exception {
    try (Stream<Path> tree = Files.walk(Path.of("src/main/java/io/envapi"))) {
      var directories = tree.filter(Files::isDirectory).filter(d -> !d.endsWith("envapi")).toList();
      assertThat(directories).allMatch(d -> Files.exists(d.resolve("package-info.java")));
    }
    classes().that().areTopLevelClasses().should().resideInAPackage("io.envapi..").check(CLASSES);
  }
}
