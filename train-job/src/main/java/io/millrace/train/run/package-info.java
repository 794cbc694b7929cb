/**
 * Runs as the database holds them: reading one, claiming, leasing, and every change of status. All SQL of training is
 * here.
 */
@NullMarked
package io.millrace.train.run;

import org.jspecify.annotations.NullMarked;
