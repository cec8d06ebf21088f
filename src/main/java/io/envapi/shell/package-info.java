/**
 * A persistent shell: the process, its commands, how the end of one is known, and its output. May
 * use {@code sandbox}, {@code process}, {@code linux}, {@code failure} and {@code id}.
 */
@NullMarked
package io.envapi.shell;

import org.jspecify.annotations.NullMarked;
