/**
 * Every call into Linux that the JDK does not offer, through the Foreign Function and Memory API:
 * spawning and signalling processes, epoll, pseudo-terminals, resource limits, and file access
 * beneath a directory. Nothing outside this package sees a {@code MemorySegment} or the number of a
 * descriptor. Depends on the JDK alone.
 */
@NullMarked
package io.envapi.linux;

import org.jspecify.annotations.NullMarked;
