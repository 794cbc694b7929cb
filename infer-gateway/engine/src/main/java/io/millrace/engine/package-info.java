/**
 * Loads one model artefact and scores one batch: the same code for serving, for the evaluation at the end of training and
 * for batch scoring, so the three cannot disagree. Small batches walk flat arrays in Java, large ones the native library;
 * both give equal answers. The package knows neither where a model came from nor who asks.
 */
@NullMarked
package io.millrace.engine;

import org.jspecify.annotations.NullMarked;
