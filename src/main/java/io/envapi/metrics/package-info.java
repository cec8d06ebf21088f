/**
 * What the service counts and measures, for Prometheus. Uses no other package of ours; {@code http}
 * and {@code app} use it, and what lies deeper is handed the one thing it may count.
 */
@NullMarked
package io.envapi.metrics;

import org.jspecify.annotations.NullMarked;
