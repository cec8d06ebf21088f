package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiskQuotasTest {

  private static final List<String> MOUNTS =
      List.of(
          "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro",
          "30 22 8:2 / /srv rw,relatime - xfs /dev/sdb1 rw,attr2,inode64,prjquota,usrquota",
          "31 30 0:30 / /srv/a\\040b rw - tmpfs tmpfs rw,size=1024k");

  @Test
  void theInnermostMountCounts() {
    assertThat(DiskQuotas.of(Path.of("/srv/envapi"), MOUNTS))
        .contains(new DiskQuotas("xfs", List.of("prjquota", "usrquota")));
    assertThat(DiskQuotas.of(Path.of("/srv/a b/c"), MOUNTS))
        .contains(new DiskQuotas("tmpfs", List.of()));
    assertThat(DiskQuotas.of(Path.of("/srvx"), MOUNTS)).contains(new DiskQuotas("ext4", List.of()));
  }

  @Test
  void theLineNamesWhatIsReallyInForce() {
    assertThat(new DiskQuotas("xfs", List.of("prjquota")).line()).contains("xfs with prjquota");
    assertThat(new DiskQuotas("ext4", List.of()).line()).contains("ext4 without quotas");
  }

  @Test
  void thisHostHasSomeFileSystem() {
    assertThat(DiskQuotas.of(Path.of("/proc/../tmp/not/there")))
        .hasValueSatisfying(found -> assertThat(found.fileSystem()).isNotBlank());
  }
}
