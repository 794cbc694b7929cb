package io.millrace.contract.fitted;

/**
 * A column that a model takes as it is.
 *
 * @param name as in the source table
 * @param form of its values
 */
public record RawColumn(String name, Form form) {
    /** How the values of a column are handed over. */
    public enum Form {
        /** As a double; NULL is NaN. Dates in days, timestamps in seconds, both from 1970-01-01 UTC. */
        REAL,
        /** As a long; there is no NULL. */
        INTEGER,
        /** As a text; there is no NULL. */
        TEXT
    }
}
