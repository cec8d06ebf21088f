package io.envapi.linux;

/**
 * One entry as a directory lists it.
 *
 * @param kind what the directory says it is; it may have been replaced since
 */
public record DirectoryEntry(FileName name, FileKind kind) {}
