/** Tests, with numbers of scikit-learn 1.9.1 where it has them. */
@NullMarked
package io.millrace.lake.fit;

import org.jspecify.annotations.NullMarked;
