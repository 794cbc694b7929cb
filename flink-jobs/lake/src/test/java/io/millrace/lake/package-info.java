/** Tests of the lake, on real tables of real files. */
@NullMarked
package io.millrace.lake;

import org.jspecify.annotations.NullMarked;
