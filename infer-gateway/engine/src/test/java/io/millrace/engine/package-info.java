/** Tests of the engine, and small models for the tests of its callers. */
@NullMarked
package io.millrace.engine;

import org.jspecify.annotations.NullMarked;
