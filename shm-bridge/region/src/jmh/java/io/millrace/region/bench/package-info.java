/** What the bridge costs by itself, without a database and without a model. */
@NullMarked
package io.millrace.region.bench;

import org.jspecify.annotations.NullMarked;
