/**
 * The keyring as this service sees it: whose token a request carries, and which credentials the
 * owner of that token has stored. May use {@code id} and {@code failure}; knows nothing of actors.
 */
@NullMarked
package io.envapi.keyring;

import org.jspecify.annotations.NullMarked;
