/** Tests of the parts that need neither a cluster nor a database. */
@NullMarked
package io.millrace.snapshot.source;

import org.jspecify.annotations.NullMarked;
