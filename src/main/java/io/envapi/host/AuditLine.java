package io.envapi.host;

/**
 * A line of an audit log.
 *
 * @param at epoch ms
 * @param json one object
 */
public record AuditLine(long at, String json) {}
