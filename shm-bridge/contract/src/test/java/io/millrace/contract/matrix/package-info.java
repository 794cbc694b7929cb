/** Tests of the matrix on disk. */
@NullMarked
package io.millrace.contract.matrix;

import org.jspecify.annotations.NullMarked;
