/**
 * What actors of every package share: message marks and their serialisation, asking, supervision.
 */
@NullMarked
package io.envapi;

import org.jspecify.annotations.NullMarked;
