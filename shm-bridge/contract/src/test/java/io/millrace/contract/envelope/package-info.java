/** Tests of envelopes. */
@NullMarked
package io.millrace.contract.envelope;

import org.jspecify.annotations.NullMarked;
