package io.millrace.lake;

/**
 * One column of a captured source table, as the database describes it.
 *
 * @param name exactly as in the database
 * @param postgresType the text of {@code format_type}, such as {@code numeric(10,2)}
 * @param nullable whether the database lets it be NULL
 * @param enumeration whether the type is an enum, whose values travel as text
 */
public record SourceColumn(String name, String postgresType, boolean nullable, boolean enumeration) {}
