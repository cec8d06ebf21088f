/**
 * The files of one workspace: reading, changing, listing, searching, measuring and removing them
 * without ever leaving it. Every access goes through descriptors that are opened beneath the
 * workspace; paths are never used twice. Synchronous: callers run it on threads that may block. May
 * use {@code linux} and {@code failure}.
 */
@NullMarked
package io.envapi.files;

import org.jspecify.annotations.NullMarked;
