/** Tests of fitted preprocessing. */
@NullMarked
package io.millrace.contract.fitted;

import org.jspecify.annotations.NullMarked;
