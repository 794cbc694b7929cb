package io.millrace.train.spec;

import java.nio.file.Path;

/**
 * What a child JVM needs to know to bring one package from the model store to local disk.
 *
 * @param uri the package
 * @param sha256 of its manifest
 * @param cacheDirectory local directory of packages
 * @param confDirectory directory of the properties files
 */
public record FetchSpec(String uri, String sha256, String cacheDirectory, String confDirectory) {
    /** Where the package is once it was fetched. */
    public Path packageDirectory() {
        return Path.of(cacheDirectory).resolve(sha256);
    }
}
