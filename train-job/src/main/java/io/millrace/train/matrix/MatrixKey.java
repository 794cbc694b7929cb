package io.millrace.train.matrix;

import io.millrace.train.spec.SpecJson;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What an exported matrix depends on: equal keys mean equal bytes, so a matrix is exported once and used by every run
 * that asks for the same.
 *
 * @param table the Iceberg table, with its UUID so that a table dropped and made again is another
 * @param icebergSnapshotId the rows
 * @param fittedId the transformation
 * @param target the label's column
 * @param split the parts
 * @param shards files each part is spread over
 */
public record MatrixKey(
        String table, long icebergSnapshotId, String fittedId, String target, SplitSpec split, int shards) {
    /** Changes whenever the content of a matrix for the same key would change. */
    private static final String FORMAT = "1 ";

    private static final int NAME_HEX_DIGITS = 32;

    /** Name of the matrix's directory. */
    public String directoryName() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest((FORMAT + SpecJson.line(this)).getBytes(StandardCharsets.UTF_8));
            return icebergSnapshotId + "-" + HexFormat.of().formatHex(digest).substring(0, NAME_HEX_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM must have SHA-256", e);
        }
    }
}
