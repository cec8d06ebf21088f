/**
 * Identifiers. They are opaque to callers and carry their own route: a shell's id names its
 * environment, a command's id names its shell. Depends on the JDK alone (and on Jackson's
 * annotations, since ids are stored in events).
 */
@NullMarked
package io.envapi.id;

import org.jspecify.annotations.NullMarked;
