package io.envapi.keyring;

import io.envapi.id.AccountId;
import java.time.Instant;

/**
 * Who sent a request.
 *
 * @param account the subject of the token
 * @param profile the profile the request names, or the one that stands in for it
 * @param token the token itself, which the keyring wants to see before it gives a credential
 * @param until when the token ends
 */
public record Caller(AccountId account, String profile, Secret token, Instant until) {}
