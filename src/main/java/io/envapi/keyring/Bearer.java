package io.envapi.keyring;

import io.envapi.id.AccountId;
import java.time.Instant;

/**
 * Whose token was accepted.
 *
 * @param until when it ends
 */
public record Bearer(AccountId account, Instant until) {}
