package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BodyBudgetTest {

  private static final long LARGE = 1 << 20;

  @Test
  void whatIsTakenIsThereAgainWhenItIsGivenBack() {
    var budget = new BodyBudget(2 * LARGE);
    assertThat(budget.take(LARGE)).isTrue();
    assertThat(budget.take(LARGE)).isTrue();
    assertThat(budget.take(LARGE)).isFalse();
    budget.give(LARGE);
    assertThat(budget.take(LARGE)).isTrue();
  }

  @Test
  void smallBodiesFindRoomWhenLargeOnesDoNot() {
    var budget = new BodyBudget(LARGE);
    assertThat(budget.take(LARGE)).isTrue();
    assertThat(budget.take(1000)).isTrue();
    budget.give(1000);
    assertThat(budget.take(LARGE)).isFalse();
  }

  @Test
  void thereIsRoomForOneOfTheLargest() {
    long largest = Long.MAX_VALUE / 2;
    assertThat(BodyBudget.of(largest).take(largest)).isTrue();
  }
}
