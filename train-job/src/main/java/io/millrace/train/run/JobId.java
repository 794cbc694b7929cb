package io.millrace.train.run;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Identities that follow from a run, so that doing a thing twice is doing it once. */
public final class JobId {
    private static final int JOB_ID_DIGITS = 32;
    private static final int LINEAGE_DIGITS = 8;

    private JobId() {}

    /** Id of the Flink job of an attempt: a cluster takes each id once. */
    public static String of(String lineage, long runId, int attempt) {
        return digest("run " + lineage + " " + runId + " " + attempt).substring(0, JOB_ID_DIGITS);
    }

    /** Name under which a database's packages are stored: two databases of one name do not meet. */
    public static String storeName(String database, String lineage) {
        return database + "-" + digest("store " + lineage).substring(0, LINEAGE_DIGITS);
    }

    private static String digest(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM must have SHA-256", e);
        }
    }
}
