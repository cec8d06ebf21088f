/**
 * Files of a workspace, reached without ever leaving it or following a symbolic link. May use
 * {@code linux}, {@code failure} and {@code id}.
 */
@NullMarked
package io.envapi.files;

import org.jspecify.annotations.NullMarked;
