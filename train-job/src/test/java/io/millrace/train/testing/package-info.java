/** Real tables as matrices, and what else the tests of training share. */
@NullMarked
package io.millrace.train.testing;

import org.jspecify.annotations.NullMarked;
