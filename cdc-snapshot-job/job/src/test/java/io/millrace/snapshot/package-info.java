/** The change job against a real PostgreSQL with the extension, on a Flink cluster inside the test's JVM. */
@NullMarked
package io.millrace.snapshot;

import org.jspecify.annotations.NullMarked;
