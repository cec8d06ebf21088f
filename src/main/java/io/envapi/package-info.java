/** What every part shares: the mark of messages that may cross hosts. */
@NullMarked
package io.envapi;

import org.jspecify.annotations.NullMarked;
