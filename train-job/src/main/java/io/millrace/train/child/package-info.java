/**
 * The child JVM that trains one model: it reads matrix shards, boosts out of core through XGBoost's external-memory
 * quantile matrix, evaluates the test rows with the very class that serves them, writes the model package and publishes
 * it. A crash, an out-of-memory kill or a cancel in mid-round costs this process and nothing else.
 */
@NullMarked
package io.millrace.train.child;

import org.jspecify.annotations.NullMarked;
