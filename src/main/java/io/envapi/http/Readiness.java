package io.envapi.http;

import io.envapi.sandbox.Layers;
import io.envapi.sandbox.SandboxTier;

/**
 * What callers are told of the host they reach.
 *
 * @param sandboxTier in force
 * @param minTier the weakest the deployment accepts
 */
public record Readiness(
    SandboxTier sandboxTier, SandboxTier minTier, Layers layers, boolean allowNetwork) {}
