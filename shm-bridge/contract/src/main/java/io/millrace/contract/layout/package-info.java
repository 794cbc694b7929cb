/**
 * Byte layouts of the shared region: slot lines, the control line, the published directory {@code layout.bin} and the
 * doorbell's hello. The C side sees them through one header, rendered by {@link
 * io.millrace.contract.layout.LayoutHeader} and compared in a test. All integers are little-endian.
 */
@NullMarked
package io.millrace.contract.layout;

import org.jspecify.annotations.NullMarked;
