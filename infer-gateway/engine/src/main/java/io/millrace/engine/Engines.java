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

    /** Format of a package whose {@value #ONNX_FILE} is a graph of the Open Neural Network Exchange. */
    public static final String ONNX_FORMAT = "onnx";

    /** Name of the model file in a package of {@link #ONNX_FORMAT}. */
    public static final String ONNX_FILE = "model.onnx";

    private Engines() {}

    /**
     * Name of the model file in a package of a format.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if no engine reads the format
     */
    public static String modelFile(String format) {
        return switch (format) {
            case XGBOOST_FORMAT -> XGBOOST_FILE;
            case ONNX_FORMAT -> ONNX_FILE;
            default ->
                throw new ContractException(
                        ErrorCode.UNKNOWN_VERSION,
                        "model format must be known: format=" + format + ", known=" + XGBOOST_FORMAT + ", "
                                + ONNX_FORMAT);
        };
    }

    /**
     * Loads the native library that every gateway needs, which the first {@link #load} would do otherwise. That of ONNX is
     * loaded with the first such model.
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
        String modelFile = modelFile(manifest.format());
        Path model = packageDirectory.resolve(modelFile);
        if (!Files.isRegularFile(model)) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model file is missing from its package: file=" + modelFile + ", package=" + packageDirectory);
        }
        return modelFile.equals(ONNX_FILE)
                ? OnnxScorer.load(packageDirectory, manifest)
                : XgboostScorer.load(model, manifest);
    }
}
