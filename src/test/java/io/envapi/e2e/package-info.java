/** The real service in processes of its own, asked over HTTP, killed and started again. */
@NullMarked
package io.envapi.e2e;

import org.jspecify.annotations.NullMarked;
