package io.envapi.files;

/** A transfer between its first step and its last. Closing twice is fine. */
interface OpenTransfer extends AutoCloseable {

  SentPath path();

  TransferAnswer read(TransferStep.Read read);

  @Override
  void close();
}
