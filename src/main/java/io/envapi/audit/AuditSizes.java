package io.envapi.audit;

import java.time.Duration;

/**
 * How large everything may become.
 *
 * @param fileBytes of a full file
 * @param seriesBytes of all files of a series, the one that is written counted as full
 * @param retention how old the last line of a file may be
 * @param allowance bytes that one account may add to the lines of all, at once and again each day
 * @param places actions that may be in progress or waiting for the disk at once
 * @param searchedBytes of a series that one search reads
 */
record AuditSizes(
    long fileBytes,
    long seriesBytes,
    Duration retention,
    long allowance,
    int places,
    long searchedBytes) {

  private static final long FILE_BYTES = 16L << 20;
  private static final int FILES = 4;
  private static final int SHARES = 64;
  private static final int PLACES = 10_000;
  private static final long SEARCHED_BYTES = 64L << 20;

  /** Two series share the bytes. */
  static AuditSizes of(AuditSettings settings) {
    long series = settings.maxBytes() / 2;
    return new AuditSizes(
        Math.min(FILE_BYTES, series / FILES),
        series,
        settings.retention(),
        series / SHARES,
        PLACES,
        SEARCHED_BYTES);
  }
}
