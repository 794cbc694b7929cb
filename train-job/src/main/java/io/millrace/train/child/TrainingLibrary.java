package io.millrace.train.child;

import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.millrace.engine.XgboostLibrary;
import org.jspecify.annotations.Nullable;

/**
 * The part of XGBoost's C interface that training needs. XGBoost4J's Java interface has no quantile or external-memory
 * matrix for CPUs; the native library it carries does.
 *
 * <p>Every function returns 0, or -1 with the reason in {@link #XGBGetLastError()}.
 *
 * @see <a href="https://xgboost.readthedocs.io/en/stable/c.html">XGBoost C API</a>
 */
interface TrainingLibrary extends Library {
    /** Hands the next block to the proxy; 1 = there is one, 0 = end. */
    interface NextBlock extends Callback {
        int invoke(@Nullable Pointer iterator);
    }

    /** Starts again at the first block. */
    interface Reset extends Callback {
        void invoke(@Nullable Pointer iterator);
    }

    String XGBGetLastError();

    int XGProxyDMatrixCreate(PointerByReference out);

    int XGProxyDMatrixSetDataDense(Pointer proxy, String arrayInterface);

    int XGDMatrixSetInfoFromInterface(Pointer matrix, String field, String arrayInterface);

    int XGExtMemQuantileDMatrixCreateFromCallback(
            @Nullable Pointer iterator,
            Pointer proxy,
            @Nullable Pointer reference,
            Reset reset,
            NextBlock next,
            String config,
            PointerByReference out);

    int XGDMatrixFree(Pointer matrix);

    int XGBoosterCreate(Pointer[] matrices, long count, PointerByReference out);

    int XGBoosterFree(Pointer booster);

    int XGBoosterSetParam(Pointer booster, String name, String value);

    int XGBoosterUpdateOneIter(Pointer booster, int iteration, Pointer matrix);

    int XGBoosterEvalOneIter(
            Pointer booster, int iteration, Pointer[] matrices, String[] names, long count, PointerByReference out);

    int XGBoosterSlice(Pointer booster, int begin, int end, int step, PointerByReference out);

    int XGBoosterSaveModel(Pointer booster, String path);

    /** The library, sharing all state with XGBoost4J's copy. */
    static TrainingLibrary open() {
        return XgboostLibrary.open(TrainingLibrary.class);
    }

    /**
     * Throws the library's own reason if a call failed. Static, because what a default method of such an interface throws
     * arrives wrapped by reflection.
     */
    static void check(TrainingLibrary library, int result) {
        if (result != 0) {
            throw new XgboostException(library.XGBGetLastError());
        }
    }

    /** A row-major float32 block in memory, in the form the library takes. */
    static String matrixInterface(long address, long rows, int columns) {
        return "{\"data\":[" + address + ",true],\"shape\":[" + rows + "," + columns
                + "],\"typestr\":\"<f4\",\"version\":3}";
    }

    /** A float32 vector in memory, in the form the library takes. */
    static String vectorInterface(long address, long length) {
        return "{\"data\":[" + address + ",true],\"shape\":[" + length + "],\"typestr\":\"<f4\",\"version\":3}";
    }
}
