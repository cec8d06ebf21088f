package io.envapi.shell;

import io.envapi.linux.Poller;
import java.util.concurrent.Executor;
import org.apache.pekko.stream.Materializer;

/**
 * What every shell of a host shares.
 *
 * @param poller the thread that watches all their descriptors
 * @param materializer runs their output streams
 * @param blocking for work that blocks shortly: {@code /proc}, disk, spawning
 * @param waiting for work that waits for processes to end; takes any number of tasks
 * @param meter counts what they do
 */
public record ShellRuntime(
    Poller poller,
    Materializer materializer,
    Executor blocking,
    Executor waiting,
    ShellSettings settings,
    ShellMeter meter) {}
