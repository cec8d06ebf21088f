/**
 * What people chose for themselves, as the settings service keeps it. May use {@code keyring},
 * {@code id}, {@code failure} and {@code audit}; knows nothing of actors.
 */
@NullMarked
package io.envapi.preferences;

import org.jspecify.annotations.NullMarked;
