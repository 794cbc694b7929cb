/** Benchmarks of the path every row takes. */
@NullMarked
package io.millrace.contract.bench;

import org.jspecify.annotations.NullMarked;
