package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.module.paramnames.ParameterNamesModule;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Operations and answers travel between hosts. */
class FileMessagesTest {

  private static final ObjectMapper CBOR =
      new CBORMapper().registerModules(new Jdk8Module(), new ParameterNamesModule());

  private static final SentPath PATH = SentPath.of("a/b");

  @Test
  void operationsSurviveTheJourney() throws Exception {
    IfMatch tags = IfMatch.parse("\"a\", \"b\"");
    for (FileOperation each :
        List.of(
            new FileOperation.ListDirectory(PATH, Optional.of("*"), 1, 2, Optional.empty()),
            new FileOperation.ReadFile(SentPath.ofBase64("/w=="), 1, 2),
            new FileOperation.WriteFile(
                PATH,
                "c\0\ud83d\ude00",
                ContentEncoding.BASE64,
                FileOperation.WriteMode.APPEND,
                tags,
                IfMatch.parseWeak("W/\"c\"")),
            new FileOperation.EditFile(PATH, "a", "b", IfMatch.parse("*")),
            new FileOperation.PatchFile(PATH, "p", IfMatch.none()),
            new FileOperation.MakeDirectory(PATH),
            new FileOperation.DeleteFile(PATH, true, tags),
            new FileOperation.CopyFile(PATH, PATH, tags),
            new FileOperation.MoveFile(PATH, PATH, tags),
            new FileOperation.Search(
                "x",
                PATH,
                Optional.empty(),
                1,
                FileOperation.SearchMode.FILES_WITH_MATCHES,
                2,
                3,
                4,
                5,
                false,
                false))) {
      byte[] sent = CBOR.writeValueAsBytes(each);
      assertThat(CBOR.readValue(sent, FileOperation.class)).isEqualTo(each);
      assertThat(CBOR.readTree(sent).get("type").asText()).doesNotContain("$", ".");
    }
  }

  @Test
  void answersSurviveTheJourney() throws Exception {
    for (FileAnswer each :
        List.of(
            new FileAnswer.Listing(
                ".",
                List.of(
                    new FileAnswer.Entry(
                        "n",
                        "p",
                        FileAnswer.EntryKind.SYMLINK,
                        1,
                        1_500_000,
                        0777,
                        3,
                        Optional.of("t"),
                        Optional.empty())),
                Optional.of("c")),
            new FileAnswer.Content("p", 1, 2, "c", ContentEncoding.UTF_8, true, false, "\"e\"", 3),
            new FileAnswer.Mutated("p", 1, "\"e\"", "d", List.of(1), List.of(2)),
            new FileAnswer.Made("p"),
            new FileAnswer.Deleted("p"),
            new FileAnswer.Found(
                3,
                true,
                List.of(new FileAnswer.Match("p", List.of(new FileAnswer.Line(1, "t", true, 4)))),
                List.of("b"),
                List.of("l"),
                List.of("u"),
                false))) {
      assertThat(CBOR.readValue(CBOR.writeValueAsBytes(each), FileAnswer.class)).isEqualTo(each);
    }
  }
}
