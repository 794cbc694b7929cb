package io.millrace.snapshot.source;

/** The source's rows no longer fit the lake table: columns were added or changed their type, or values are left out. */
final class SchemaMismatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SchemaMismatchException(String message) {
        super(message);
    }
}
