/** Tests of the byte layouts. */
@NullMarked
package io.millrace.contract.layout;

import org.jspecify.annotations.NullMarked;
