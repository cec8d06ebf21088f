package io.envapi.sandbox;

import io.envapi.linux.FileDescriptor;
import java.nio.file.Path;

/**
 * A pseudo-terminal for one shell.
 *
 * @param master the service's end, non-blocking
 * @param slave the other end, as the service can open it
 */
public record Terminal(FileDescriptor master, Path slave) {}
