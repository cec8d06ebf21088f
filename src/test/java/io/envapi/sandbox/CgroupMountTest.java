package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupMountTest {

  @TempDir Path sys;

  private String mount(String root, String name, String type, String options) {
    return "30 23 0:26 %s %s rw,nosuid shared:4 - %s cgroup %s"
        .formatted(root, sys.resolve(name), type, options);
  }

  private Path made(String path) throws java.io.IOException {
    return Files.createDirectories(sys.resolve(path));
  }

  @Test
  void oneHierarchyOfVersion2() throws Exception {
    Path own = made("system.slice/envapi.service");
    assertThat(
            CgroupMount.parse(
                List.of(mount("/", "", "cgroup2", "rw,nsdelegate")),
                List.of("0::/system.slice/envapi.service")))
        .containsExactly(new CgroupMount(true, Set.of(), sys, own));
  }

  @Test
  void version1BesideVersion2() throws Exception {
    Path memory = made("memory/job/7");
    made("pids");
    made("unified");
    assertThat(
            CgroupMount.parse(
                List.of(
                    mount("/", "memory", "cgroup", "rw,memory"),
                    mount("/", "pids", "cgroup", "rw,pids"),
                    mount("/", "unified", "cgroup2", "rw"),
                    "31 23 0:27 / /proc rw - proc proc rw"),
                List.of("8:pids:/", "4:memory:/job/7", "1:name=systemd:/", "0::/")))
        .extracting(CgroupMount::unified, CgroupMount::own)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(false, memory),
            org.assertj.core.groups.Tuple.tuple(false, sys.resolve("pids")),
            org.assertj.core.groups.Tuple.tuple(true, sys.resolve("unified")));
  }

  /** A container's mount shows a part of the hierarchy, its paths may be the host's or its own. */
  @Test
  void partOfAHierarchy() throws Exception {
    made("memory/inner");
    List<String> mounts = List.of(mount("/docker/ab", "memory", "cgroup", "rw,memory"));
    assertThat(CgroupMount.parse(mounts, List.of("4:memory:/docker/ab/inner")).getFirst().own())
        .isEqualTo(sys.resolve("memory/inner"));
    assertThat(CgroupMount.parse(mounts, List.of("4:memory:/")).getFirst().own())
        .isEqualTo(sys.resolve("memory"));
    assertThat(CgroupMount.parse(mounts, List.of("4:memory:/../..")).getFirst().own())
        .isEqualTo(sys.resolve("memory"));
  }

  @Test
  void controllersMountedTogether() throws Exception {
    made("cpu,cpuacct");
    assertThat(
            CgroupMount.parse(
                List.of(mount("/", "cpu,cpuacct", "cgroup", "rw,cpu,cpuacct")),
                List.of("3:cpu,cpuacct:/")))
        .singleElement()
        .satisfies(m -> assertThat(m.controllers()).contains("cpu", "cpuacct"));
  }
}
