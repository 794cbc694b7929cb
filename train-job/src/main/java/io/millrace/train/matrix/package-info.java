/**
 * Matrices on local disk: which rows are trained on and which are held out, the cache of exported matrices, and its
 * safety against crashes. Everything here can be deleted at any time; the next run exports again.
 */
@NullMarked
package io.millrace.train.matrix;

import org.jspecify.annotations.NullMarked;
