package io.envapi.sandbox;

import java.nio.file.Path;

/**
 * Where an environment's files are on the host. Never part of an answer.
 *
 * @param root the environment's own directory, the service's alone
 * @param files the workspace: what shells see as their home, owned by {@code uid}
 * @param logs the command logs, the service's alone
 * @param uid the owner of the workspace and of every process in it (a host uid); its group has the
 *     same number
 */
public record Workspace(Path root, Path files, Path logs, int uid) {}
