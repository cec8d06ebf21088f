package io.envapi.shell;

import io.envapi.linux.Poller;
import java.util.concurrent.Executor;
import org.apache.pekko.stream.Materializer;

/**
 * What every shell of a host shares.
 *
 * @param poller the thread that watches all their descriptors
 * @param materializer runs their output streams
 * @param blocking for work that blocks: {@code /proc}, disk, spawning
 */
public record ShellRuntime(
    Poller poller, Materializer materializer, Executor blocking, ShellSettings settings) {}
