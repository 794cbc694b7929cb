/** The connector of shared memory: one dispatcher thread between the region's slots and the pipeline. */
@NullMarked
package io.millrace.gateway.memory;

import org.jspecify.annotations.NullMarked;
