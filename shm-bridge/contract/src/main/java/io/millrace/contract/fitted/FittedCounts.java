package io.millrace.contract.fitted;

/**
 * What a preprocessing was fitted on.
 *
 * @param rows of the snapshot
 * @param nullLabelRows rows among them whose label is NULL; they are not used
 */
public record FittedCounts(long rows, long nullLabelRows) {}
