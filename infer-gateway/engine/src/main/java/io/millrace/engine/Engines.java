package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import java.nio.file.Files;
import java.nio.file.Path;

/** The registry of engines: which one reads a package's format. */
public final class Engines {
    /** Format of a package whose {@value #XGBOOST_FILE} is XGBoost's own UBJSON. */
    public static final String XGBOOST_FORMAT = "xgboost-ubj";

    /** Name of the model file in a package of {@link #XGBOOST_FORMAT}. */
    public static final String XGBOOST_FILE = "model.ubj";

    private Engines() {}

    /**
     * Loads the engines' native libraries, which the first {@link #load} would do otherwise.
     *
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} if one cannot be loaded here
     */
    public static void preload() {
        XgboostLibrary.open(NativeBooster.Api.class);
    }

    /**
     * Loads the model of a package and tries it once.
     *
     * <p>The files' sizes and digests are the store's concern; this checks that the model fits its manifest: format,
     * width, outputs, and that both ways of scoring agree.
     *
     * @param packageDirectory a complete local package
     * @param manifest the package's manifest
     * @return a scorer the caller must close
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if no engine reads the format, {@link
     *     ErrorCode#CORRUPT_PACKAGE} if the model is missing, malformed or does not fit the manifest, {@link
     *     ErrorCode#UNSUPPORTED_KIND} if the model uses a feature of XGBoost that is not served
     */
    public static Scorer load(Path packageDirectory, ModelManifest manifest) {
        if (!manifest.format().equals(XGBOOST_FORMAT)) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "model format must be known: format=" + manifest.format() + ", known=" + XGBOOST_FORMAT);
        }
        Path model = packageDirectory.resolve(XGBOOST_FILE);
        if (!Files.isRegularFile(model)) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model file is missing from its package: file=" + XGBOOST_FILE + ", package=" + packageDirectory);
        }
        return XgboostScorer.load(model, manifest);
    }
}
