package io.millrace.train.child;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A model being boosted. One thread. */
final class NativeBooster implements AutoCloseable {
    private final TrainingLibrary library;
    private final Pointer handle;

    private NativeBooster(TrainingLibrary library, Pointer handle) {
        this.library = library;
        this.handle = handle;
    }

    /**
     * An empty model.
     *
     * @param matrices all matrices it will be trained on or measured on
     * @param parameters the library's names and values
     * @throws XgboostException if it refuses a parameter
     */
    static NativeBooster create(TrainingLibrary library, List<NativeMatrix> matrices, Map<String, String> parameters) {
        PointerByReference out = new PointerByReference();
        TrainingLibrary.check(library, library.XGBoosterCreate(handles(matrices), matrices.size(), out));
        NativeBooster booster = new NativeBooster(library, out.getValue());
        parameters.forEach((name, value) ->
                TrainingLibrary.check(library, library.XGBoosterSetParam(booster.handle, name, value)));
        return booster;
    }

    /** Adds one round of trees. */
    void update(int round, NativeMatrix train) {
        TrainingLibrary.check(library, library.XGBoosterUpdateOneIter(handle, round, train.handle()));
    }

    /**
     * The watched metric after a round.
     *
     * @return one value for each matrix, in order
     */
    double[] evaluate(int round, List<NativeMatrix> matrices) {
        String[] names = new String[matrices.size()];
        for (int index = 0; index < names.length; index++) {
            names[index] = "matrix" + index;
        }
        PointerByReference out = new PointerByReference();
        TrainingLibrary.check(
                library, library.XGBoosterEvalOneIter(handle, round, handles(matrices), names, names.length, out));
        return values(out.getValue().getString(0), names.length);
    }

    /** Takes the numbers out of {@code [3]\tmatrix0-logloss:0.123\tmatrix1-logloss:0.234}. */
    static double[] values(String line, int count) {
        String[] parts = line.strip().split("\\s+", -1);
        if (parts.length != count + 1) {
            throw new XgboostException(
                    "evaluation must have one value per matrix: matrices=" + count + ", line=" + line);
        }
        double[] values = new double[count];
        for (int index = 0; index < count; index++) {
            String part = parts[index + 1];
            String value = part.substring(part.lastIndexOf(':') + 1);
            values[index] = value.contains("nan")
                    ? Double.NaN
                    : value.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value);
        }
        return values;
    }

    /** Writes the model; the file's ending chooses the format. */
    void save(Path file) {
        TrainingLibrary.check(library, library.XGBoosterSaveModel(handle, file.toString()));
    }

    /** A copy that ends after the given number of rounds; the caller closes it. */
    NativeBooster firstRounds(int rounds) {
        PointerByReference out = new PointerByReference();
        TrainingLibrary.check(library, library.XGBoosterSlice(handle, 0, rounds, 1, out));
        return new NativeBooster(library, out.getValue());
    }

    private static Pointer[] handles(List<NativeMatrix> matrices) {
        return matrices.stream().map(NativeMatrix::handle).toArray(Pointer[]::new);
    }

    @Override
    public void close() {
        TrainingLibrary.check(library, library.XGBoosterFree(handle));
    }
}
