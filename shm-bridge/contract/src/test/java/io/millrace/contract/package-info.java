/** Tests of the contract. */
@NullMarked
package io.millrace.contract;

import org.jspecify.annotations.NullMarked;
