/**
 * What people chose for themselves, as the settings service keeps it. May use {@code keyring},
 * {@code id} and {@code failure}; knows nothing of actors.
 */
@NullMarked
package io.envapi.preferences;

import org.jspecify.annotations.NullMarked;
