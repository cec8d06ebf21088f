/**
 * Processes as {@code /proc} shows them: who they are, which belong to a shell, and how to signal
 * one without hitting another that took over its number. May use {@code linux}.
 */
@NullMarked
package io.envapi.process;

import org.jspecify.annotations.NullMarked;
