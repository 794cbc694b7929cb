/**
 * What two processes must agree on: error codes, the schema of a row, configuration files and the manifest of a model.
 *
 * <p>The package and those below it use the JDK and Jackson only and do no I/O beyond the files they define. Every byte
 * read here comes from another process, so every parser answers malformed input with a {@link
 * io.millrace.contract.ContractException} and never with any other exception.
 */
@NullMarked
package io.millrace.contract;

import org.jspecify.annotations.NullMarked;
