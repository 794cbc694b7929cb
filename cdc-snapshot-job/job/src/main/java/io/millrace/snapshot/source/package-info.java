/**
 * The change source: the PostgreSQL connector with cuts where a snapshot must be exact. After a snapshot request, and after a
 * table's initial load has been joined with the log, nothing more is emitted until the checkpoint that holds it is complete;
 * so the lake commit of that checkpoint is the table as it was at that point, whatever is written meanwhile.
 */
@NullMarked
package io.millrace.snapshot.source;

import org.jspecify.annotations.NullMarked;
