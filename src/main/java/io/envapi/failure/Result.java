package io.envapi.failure;

import java.util.function.Function;

/** What an operation with expected failures answers: its value, or why there is none. */
public sealed interface Result<T> {

  record Ok<T>(T value) implements Result<T> {}

  record Refused<T>(Failure failure) implements Result<T> {}

  static <T> Result<T> ok(T value) {
    return new Ok<>(value);
  }

  static <T> Result<T> refused(Failure failure) {
    return new Refused<>(failure);
  }

  default <R> Result<R> map(Function<? super T, ? extends R> then) {
    return switch (this) {
      case Ok<T>(var value) -> new Ok<>(then.apply(value));
      case Refused<T>(var failure) -> new Refused<>(failure);
    };
  }

  default <R> Result<R> then(Function<? super T, Result<R>> then) {
    return switch (this) {
      case Ok<T>(var value) -> then.apply(value);
      case Refused<T>(var failure) -> new Refused<>(failure);
    };
  }
}
