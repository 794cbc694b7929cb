package io.millrace.lake;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

/**
 * Names of lake tables. A name of letters, digits and underscores stays as it is; any other character becomes an underscore and a
 * hash of the original is appended, so that two source tables never meet in one lake table and every engine can spell the name.
 */
public final class LakeNames {
    /** Longest part that is kept; PostgreSQL's own limit is 63 bytes. */
    private static final int PART_CHARACTERS_MAX = 63;

    private static final int HASH_BYTES = 4;

    private LakeNames() {}

    /**
     * The table that mirrors a source table.
     *
     * @param schema unquoted
     * @param table unquoted
     */
    public static TableIdentifier of(String schema, String table) {
        return TableIdentifier.of(Namespace.of(part(schema)), part(table));
    }

    private static String part(String name) {
        StringBuilder plain = new StringBuilder(name.length());
        boolean changed = name.isEmpty();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean kept = c < 128 && (Character.isLetterOrDigit(c) || c == '_');
            plain.append(kept ? c : '_');
            changed |= !kept;
        }
        if (plain.length() > PART_CHARACTERS_MAX) {
            plain.setLength(PART_CHARACTERS_MAX);
            changed = true;
        }
        return changed ? plain + "_" + hash(name) : plain.toString();
    }

    private static String hash(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
