package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.module.paramnames.ParameterNamesModule;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Transfers and transactions travel between hosts. */
class TransferMessagesTest {

  private static final ObjectMapper CBOR =
      new CBORMapper().registerModules(new Jdk8Module(), new ParameterNamesModule());

  private static final SentPath PATH = SentPath.of("a/b");

  @Test
  void stepsSurviveTheJourney() throws Exception {
    IfMatch tags = IfMatch.parseWeak("W/\"a\", \"b\"");
    for (TransferStep each :
        List.of(
            new TransferStep.OpenRead(PATH, tags, IfMatch.none(), true),
            new TransferStep.Read("t", 1, 2),
            new TransferStep.OpenWrite(PATH, tags, IfMatch.parse("*"), Optional.of(5L)),
            new TransferStep.Append("t", 3, new FileBytes(new byte[] {0, -1, 7})),
            new TransferStep.Commit("t"),
            new TransferStep.OpenArchive(PATH, ArchiveFormat.ZIP),
            new TransferStep.OpenUnpack(PATH, ArchiveFormat.TAR_GZ, Optional.empty()),
            new TransferStep.Unpack("t"),
            new TransferStep.OpenWatch(PATH, 3),
            new TransferStep.Watch("t", 9),
            new TransferStep.Close("t"))) {
      byte[] sent = CBOR.writeValueAsBytes(each);
      assertThat(CBOR.readValue(sent, TransferStep.class)).isEqualTo(each);
      assertThat(CBOR.readTree(sent).get("type").asText()).doesNotContain("$", ".");
    }
    byte[] piece =
        CBOR.writeValueAsBytes(
            new TransferStep.Append("t", 0, new FileBytes(new byte[FileBytes.MOST])));
    assertThat(piece.length).isLessThan(FileBytes.MOST + 200);
  }

  @Test
  void answersSurviveTheJourney() throws Exception {
    for (TransferAnswer each :
        List.of(
            new TransferAnswer.Opened("t", "p", 1, "W/\"e\"", 2),
            new TransferAnswer.Unchanged("\"e\""),
            new TransferAnswer.Piece(new FileBytes(new byte[] {1})),
            new TransferAnswer.Writable("t"),
            new TransferAnswer.Appended(3),
            new TransferAnswer.Stored("p", 1, "\"e\"", true),
            new TransferAnswer.Archive("t", "p"),
            new TransferAnswer.Unpacked("p", 1, 2),
            new TransferAnswer.Watching("t"),
            new TransferAnswer.Changes(
                List.of(
                    new TransferAnswer.Change(
                        1, TransferAnswer.ChangeKind.MOVED, "p", Optional.of("f")))),
            new TransferAnswer.Closed())) {
      assertThat(CBOR.readValue(CBOR.writeValueAsBytes(each), TransferAnswer.class))
          .isEqualTo(each);
    }
  }

  @Test
  void transactionsSurviveTheJourney() throws Exception {
    FileOperation sent =
        new FileOperation.Transaction(
            List.of(Fixture.write("a", "b"), Fixture.delete("c", true), Fixture.mkdir("d")));
    assertThat(CBOR.readValue(CBOR.writeValueAsBytes(sent), FileOperation.class)).isEqualTo(sent);
    FileAnswer answer =
        new FileAnswer.Transacted(List.of(new FileAnswer.Made("p"), new FileAnswer.Deleted("q")));
    assertThat(CBOR.readValue(CBOR.writeValueAsBytes(answer), FileAnswer.class)).isEqualTo(answer);
  }
}
