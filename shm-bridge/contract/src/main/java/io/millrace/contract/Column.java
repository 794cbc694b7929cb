package io.millrace.contract;

/**
 * One column of a row.
 *
 * @param name as in the source table; empty in a positional descriptor
 * @param type of its values
 * @param nullable whether the source allows NULL; not part of a fingerprint
 */
public record Column(String name, ColumnType type, boolean nullable) {}
