package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.Credentials;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Environments that were made while other uids were lent. */
class LentUidTest {

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void whoseUidIsNotLentAnyMoreIsRefusedAndCanBeRemoved(SandboxTier tier) {
    Assumptions.assumeTrue(Credentials.current().isRoot(), "uids are lent by root alone");
    Sandbox sandbox = Tiers.sandbox(tier);
    EnvironmentId id = EnvironmentId.random();
    SandboxSettings settings = Tiers.settings(tier);
    int last = settings.uidBase() + settings.uidCount() - 1;
    assertThat(sandbox.prepare(id, last)).isInstanceOf(Result.Ok.class);
    for (int uid : new int[] {settings.uidBase() - 1, last + 1}) {
      assertThat(sandbox.prepare(id, uid))
          .isEqualTo(Result.refused(new Failure.SandboxFailed("its uid is not lent any more")));
    }
    Workspace workspace = sandbox.workspace(id, last + 1);
    assertThat(workspace.files()).exists();
    assertThat(sandbox.remove(id, workspace)).isTrue();
    assertThat(workspace.root()).doesNotExist();
  }
}
