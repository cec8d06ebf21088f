/**
 * A persistent shell: its process, its commands, and its output on the way from the kernel to
 * whoever reads it. May use {@code sandbox}, {@code process}, {@code files}, {@code keyring} and
 * what lies below them.
 */
@NullMarked
package io.envapi.shell;

import org.jspecify.annotations.NullMarked;
