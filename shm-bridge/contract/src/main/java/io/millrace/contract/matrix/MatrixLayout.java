package io.millrace.contract.matrix;

/**
 * Files of a matrix directory.
 *
 * <pre>
 *  header.bin
 *   0                 8        12       16                24                32       36
 *  +-----------------+--------+--------+-----------------+-----------------+--------+
 *  | magic           | version| width  | row count       | fingerprint     | CRC32C |
 *  +-----------------+--------+--------+-----------------+-----------------+--------+
 *  features.bin   row count x width float32, row-major
 *  labels.bin     row count float32
 *  keys.bin       row count x { u32 length, UTF-8 }
 *  manifest.json  { "format-version": 1, "files": [ { "name", "bytes", "crc32c" } ] }, written last
 * </pre>
 *
 * <p>All little-endian.
 */
public final class MatrixLayout {
    /** "MLRMATRX" read as a little-endian u64. */
    public static final long MAGIC = 0x58525441_4D524C4DL;

    /** Version of header and manifest. */
    public static final int VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = 8;
    static final int WIDTH_OFFSET = 12;
    static final int ROW_COUNT_OFFSET = 16;
    static final int FINGERPRINT_OFFSET = 24;
    static final int CRC_OFFSET = 32;
    static final int HEADER_LENGTH = 36;

    /** The header. */
    public static final String HEADER = "header.bin";

    /** The rows. */
    public static final String FEATURES = "features.bin";

    /** One number per row. */
    public static final String LABELS = "labels.bin";

    /** One text per row. */
    public static final String KEYS = "keys.bin";

    /** Written last: a directory without it is no matrix. */
    public static final String MANIFEST = "manifest.json";

    private MatrixLayout() {}
}
