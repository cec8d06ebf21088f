package io.envapi.shell;

/**
 * How a shell ended.
 *
 * @param reason as the wire has it: {@code closed}, {@code exit:<n>}, {@code signal:<n>}, …
 * @param at epoch ms
 * @param cursor one past the last byte it printed
 * @param commandsRun commands in its history
 */
public record ShellEnd(
    ShellView.State state, String reason, long at, long cursor, int commandsRun) {}
