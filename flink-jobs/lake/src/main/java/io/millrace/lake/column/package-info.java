/**
 * Columns of data files, read in batches with deletes applied. A file of any size costs one batch of each wanted column and the
 * keys deleted from it.
 */
@NullMarked
package io.millrace.lake.column;

import org.jspecify.annotations.NullMarked;
