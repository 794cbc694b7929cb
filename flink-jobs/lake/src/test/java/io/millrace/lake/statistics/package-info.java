/** Tests of statistics against exact ones. */
@NullMarked
package io.millrace.lake.statistics;

import org.jspecify.annotations.NullMarked;
