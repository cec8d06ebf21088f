package io.envapi;

/** A message or snapshot, serialized as Jackson CBOR where it leaves the process. */
public interface CborSerializable {}
