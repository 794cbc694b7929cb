/** Tests of the model store, with real files, real processes and a real object store. */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
