/**
 * The account: an event-sourced entity that holds its quotas and the index of its environments. May
 * use {@code id} and {@code failure}.
 */
@NullMarked
package io.envapi.account;

import org.jspecify.annotations.NullMarked;
