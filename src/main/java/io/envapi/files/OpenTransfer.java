package io.envapi.files;

/** A transfer between its first step and its last. Closing twice is fine. */
interface OpenTransfer extends AutoCloseable {

  SentPath path();

  TransferAnswer read(TransferStep.Read read);

  /** Nobody wants it any more: a step that is under way ends soon. Waits for nothing. */
  default void abandon() {}

  @Override
  void close();
}
