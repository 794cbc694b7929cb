/**
 * Fitted preprocessing: what was learnt from the rows of one snapshot, as one JSON document, and the transform that
 * turns a raw row into the vector a model sees. The same classes transform rows for export, evaluation and serving, so
 * there is nothing to keep in step.
 */
@NullMarked
package io.millrace.contract.fitted;

import org.jspecify.annotations.NullMarked;
