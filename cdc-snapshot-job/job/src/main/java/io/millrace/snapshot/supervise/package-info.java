/**
 * Keeps the change job running with the tables that are to be captured: starts it, stops it with a savepoint when the list
 * changes, restarts it from its newest state when it is lost, and lets go of the replication slot when nothing is captured. What
 * must survive the supervisor is in one small file.
 */
@NullMarked
package io.millrace.snapshot.supervise;

import org.jspecify.annotations.NullMarked;
