/** Tests of the shim. */
@NullMarked
package io.millrace.cdc.shim;

import org.jspecify.annotations.NullMarked;
