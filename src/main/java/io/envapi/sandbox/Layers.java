package io.envapi.sandbox;

/**
 * The layers of confinement in force.
 *
 * @param cgroup {@code v2}, {@code v1} or {@code none}
 * @param seccomp whether a system call filter is on
 * @param userns whether environments have a user namespace
 * @param network whether an environment can be cut off from the network
 */
public record Layers(String cgroup, boolean seccomp, boolean userns, boolean network) {}
