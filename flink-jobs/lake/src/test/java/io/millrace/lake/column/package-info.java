/** Tests of reading columns. */
@NullMarked
package io.millrace.lake.column;

import org.jspecify.annotations.NullMarked;
