/**
 * The three seams where the PostgreSQL change connector, compiled for Flink 1.20, meets Flink 2.3: a constructor that
 * lost a parameter, a manager that makes its own queue, and a parser that asks for a class loader. The connector's byte
 * code is relocated onto these names when it is shaded, so they live in a jar of their own: inside the shaded jar their
 * superclasses would be relocated too, onto themselves.
 */
@NullMarked
package io.millrace.cdc.shim;

import org.jspecify.annotations.NullMarked;
