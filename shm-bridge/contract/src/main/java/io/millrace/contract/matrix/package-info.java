/**
 * The matrix on disk between export and training: float32 rows that are mapped, labels, keys, and a manifest written
 * last. A cache: whatever is not complete and unchanged is made again.
 */
@NullMarked
package io.millrace.contract.matrix;

import org.jspecify.annotations.NullMarked;
