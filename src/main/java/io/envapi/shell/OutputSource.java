package io.envapi.shell;

import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Poller;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.SourceShape;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * What a shell prints, read on demand only: while nobody asks, the pipe fills and the child waits.
 *
 * <p>Ends at the end of the pipe, or after {@code finish} completes and what lies in the pipe then
 * has been read. It does not wait for more, since a process that survived the shell may hold the
 * pipe open for ever. Closes the descriptor.
 */
final class OutputSource extends GraphStage<SourceShape<ByteString>> {

  private static final int CHUNK = 65536;

  /**
   * More than a pipe or a terminal holds, so a writer that never stops cannot keep the drain alive.
   */
  private static final int DRAIN_CHUNKS = 32;

  /** Reads happen on the few threads of one dispatcher, so that idle shells hold no buffer. */
  private static final ThreadLocal<byte[]> BUFFERS = ThreadLocal.withInitial(() -> new byte[CHUNK]);

  private final Outlet<ByteString> out = Outlet.create("output");
  private final FileDescriptor source;
  private final Poller poller;
  private final CompletableFuture<?> finish;

  OutputSource(FileDescriptor source, Poller poller, CompletableFuture<?> finish) {
    this.source = source;
    this.poller = poller;
    this.finish = finish;
  }

  @Override
  public SourceShape<ByteString> shape() {
    return SourceShape.of(out);
  }

  @Override
  public GraphStageLogic createLogic(Attributes inheritedAttributes) {
    return new Logic();
  }

  private final class Logic extends GraphStageLogic {

    private boolean finishing;
    private int drained;
    private final AsyncCallback<Object> readable = createAsyncCallback(ignored -> serve());
    private final Poller.Registration registration =
        poller.register(source, () -> readable.invoke(this));

    Logic() {
      super(OutputSource.this.shape());
      setHandler(
          out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              serve();
            }
          });
    }

    @Override
    public void preStart() {
      AsyncCallback<Object> finished =
          createAsyncCallback(
              ignored -> {
                finishing = true;
                serve();
              });
      finish.whenComplete((value, failure) -> finished.invoke(this));
    }

    private void serve() {
      if (!isAvailable(out)) {
        return;
      }
      byte[] buffer = BUFFERS.get();
      int read = readChunk(buffer);
      if (read > 0) {
        byte[] bytes = new byte[read];
        System.arraycopy(buffer, 0, bytes, 0, read);
        push(out, ByteString.fromArrayUnsafe(bytes));
        if (finishing && ++drained == DRAIN_CHUNKS) {
          complete(out);
        }
      } else if (read == 0 || finishing) {
        complete(out);
      } else {
        registration.arm();
      }
    }

    /** A terminal answers EIO once nobody holds its other end, which is its end of file. */
    private int readChunk(byte[] buffer) {
      try {
        return source.read(buffer, 0, CHUNK);
      } catch (LinuxException e) {
        return 0;
      }
    }

    @Override
    public void postStop() {
      registration.cancel();
      source.close();
    }
  }
}
