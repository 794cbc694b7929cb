/**
 * The one registry of algorithms: their names, aliases, the tasks they solve, the objectives they offer and every
 * hyper-parameter with its type and range. What is not listed here does not train; what is listed is checked here once,
 * before any row is read.
 */
@NullMarked
package io.millrace.train.algorithm;

import org.jspecify.annotations.NullMarked;
