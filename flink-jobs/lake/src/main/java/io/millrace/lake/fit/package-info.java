/**
 * From statistics to parameters: what stands for a missing value, which levels a column has, how it is scaled, and what the label
 * means. Numbers equal scikit-learn's for the same rows; where they differ on purpose the class says so.
 */
@NullMarked
package io.millrace.lake.fit;

import org.jspecify.annotations.NullMarked;
