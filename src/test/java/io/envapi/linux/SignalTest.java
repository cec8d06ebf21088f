package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SignalTest {

  @ParameterizedTest
  @CsvSource({
    "15,15",
    "TERM,15",
    "term,15",
    "SIGTERM,15",
    "sigTerm,15",
    "SigUsr1,10",
    "9,9",
    "hup,1",
    "SIGSYS,31",
    "CONT,18",
    "STOP,19",
    "winch,28",
    "1,1",
    "64,64",
    "SIGCLD,17"
  })
  void numbersAndNamesInAnyCaseAreTheSame(String text, int number) {
    assertThat(Signal.parse(text)).contains(new Signal(number));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "65",
        "-1",
        "99999999999",
        "",
        "SIG",
        "NOPE",
        "SIGSIGTERM",
        "TERM ",
        "1.0",
        "+9",
        "٩"
      })
  void anythingElseIsNoSignal(String text) {
    assertThat(Signal.parse(text)).isEmpty();
  }

  @Test
  void namesAreThoseOfTheShell() {
    for (int number = 1; number <= 31; number++) {
      String name = Run.run("builtin kill -l " + number).output().strip();
      assertThat(new Signal(number).name()).isEqualTo("SIG" + name);
    }
    assertThat(new Signal(40).name()).isEqualTo("SIG40");
  }

  @Test
  void aSignalEndsByDefaultWhatItEnds() {
    for (int number = 1; number <= 31; number++) {
      Signal signal = new Signal(number);
      if (!List.of("SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU").contains(signal.name())) {
        String script = "ulimit -c 0; kill -" + number + " $$; echo on";
        String output = Run.run("env --default-signal sh -c '" + script + "'").output();
        assertThat(output.endsWith("on\n")).isNotEqualTo(signal.endsByDefault());
      }
    }
  }
}
