package io.millrace.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;

/** The multipart upload of a job jar, under a name that carries its content's hash so that a cluster holds it once. */
final class JarUpload {
    private static final String BOUNDARY = "millrace-jar-boundary";
    private static final int HASH_TEXT_LENGTH = 16;

    private JarUpload() {}

    /** {@code <file name>-<first 16 hexadecimal digits of its SHA-256>.jar}. */
    static String contentName(Path jar) {
        String file = String.valueOf(jar.getFileName());
        String base = file.endsWith(".jar") ? file.substring(0, file.length() - ".jar".length()) : file;
        return base + "-" + sha256(jar).substring(0, HASH_TEXT_LENGTH) + ".jar";
    }

    static HttpRequest request(URI uri, Path jar, String name, Duration limit) {
        String head = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"jarfile\"; filename=\"" + name
                + "\"\r\nContent-Type: application/x-java-archive\r\n\r\n";
        String tail = "\r\n--" + BOUNDARY + "--\r\n";
        try {
            return HttpRequest.newBuilder(uri)
                    .timeout(limit)
                    .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
                    .POST(BodyPublishers.concat(
                            BodyPublishers.ofString(head, StandardCharsets.US_ASCII),
                            BodyPublishers.ofFile(jar),
                            BodyPublishers.ofString(tail, StandardCharsets.US_ASCII)))
                    .build();
        } catch (IOException e) {
            throw new FlinkRestException("job jar cannot be read: path=" + jar, e);
        }
    }

    private static String sha256(Path jar) {
        try (InputStream in = Files.newInputStream(jar)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            try (DigestInputStream digesting = new DigestInputStream(in, digest)) {
                digesting.transferTo(OutputStream.nullOutputStream());
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            throw new FlinkRestException("job jar cannot be read: path=" + jar, e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("SHA-256 is part of every JDK", e);
        }
    }
}
