package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BodyBudgetTest {

  private static final long LARGE = 1 << 20;

  @Test
  void whatIsTakenIsThereAgainWhenItIsGivenBack() {
    var budget = new BodyBudget(2 * LARGE);
    BodyBudget.Share first = budget.share();
    assertThat(first.grow(LARGE)).isTrue();
    assertThat(budget.share().grow(LARGE)).isTrue();
    assertThat(budget.share().grow(LARGE)).isFalse();
    first.giveBack();
    first.giveBack();
    assertThat(budget.share().grow(LARGE)).isTrue();
    assertThat(budget.share().grow(LARGE)).isFalse();
  }

  @Test
  void smallBodiesFindRoomWhenLargeOnesDoNot() {
    var budget = new BodyBudget(LARGE);
    assertThat(budget.share().grow(LARGE)).isTrue();
    BodyBudget.Share small = budget.share();
    for (int i = 0; i < 64; i++) {
      assertThat(small.grow(1024)).isTrue();
    }
    assertThat(small.grow(1)).isFalse();
  }

  @Test
  void aBodyThatGrowsIsChargedAsAWhole() {
    var budget = new BodyBudget(LARGE);
    BodyBudget.Share growing = budget.share();
    long piece = 50 << 10;
    for (long size = piece; size <= LARGE; size += piece) {
      assertThat(growing.grow(piece)).isTrue();
    }
    assertThat(budget.share().grow(LARGE % piece + (64 << 10))).isFalse();
    growing.giveBack();
    assertThat(budget.share().grow(LARGE)).isTrue();
  }

  @Test
  void thereIsRoomForOneOfTheLargest() {
    long largest = Long.MAX_VALUE / 2;
    assertThat(BodyBudget.of(largest).share().grow(largest)).isTrue();
  }
}
