package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.XGBoostError;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Damaged bytes give a typed error or a model that is safe to walk; never another exception, never an endless loop. */
class TreeModelParserPropertyTest {
    private static final byte[] MODEL = model();

    private static byte[] model() {
        float[] rows = TestingForests.rows(5, 60, 4, 0.1);
        try {
            Booster booster = TestingForests.train(
                    rows,
                    TestingForests.labels(5, rows, 4, 2),
                    4,
                    2,
                    Map.of("objective", "binary:logistic", "max_depth", 2));
            byte[] bytes = booster.toByteArray("ubj");
            booster.dispose();
            return bytes;
        } catch (XGBoostError e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void everyPrefixIsRefused() {
        for (int length = 0; length < MODEL.length; length++) {
            ContractException refusal = refusalOf(Arrays.copyOf(MODEL, length));
            assertThat(refusal).as("length %d", length).isNotNull();
        }
        assertThat(refusalOf(Arrays.copyOf(MODEL, MODEL.length + 1))).hasMessageStartingWith("model file must end");
    }

    @Test
    void everyBitFlipIsRefusedOrSafe() {
        for (int bit = 0; bit < MODEL.length * 8; bit++) {
            byte[] damaged = MODEL.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            refusalOf(damaged);
        }
    }

    @Property(tries = 500)
    void manyDamagedBytesAreRefusedOrSafe(@ForAll @LongRange(min = 0) long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] damaged = MODEL.clone();
        for (int count = random.nextInt(1, 12); count > 0; count--) {
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
        }
        refusalOf(damaged);
    }

    /** The flat arrays do without these; the native library follows them blindly. */
    @Test
    void whatOnlyTheNativeLibraryReadsIsChecked() {
        assertThat(refusalOf(withElement("parents", 1, Integer.MAX_VALUE)))
                .hasMessageStartingWith("parent must be a node of the tree: tree=0, node=1, parent=2147483647");
        assertThat(refusalOf(withElement("parents", 1, 2))).hasMessageStartingWith("child must know its parent");
        int leaf = leafOfFirstTree();
        assertThat(refusalOf(withElement("left_children", leaf, -5)))
                .as("a leaf is where both children are -1")
                .isNotNull();
        byte[] categorical = MODEL.clone();
        categorical[elements(categorical, "split_type")] = 1;
        assertThat(refusalOf(categorical)).hasMessageStartingWith("splits must be numeric");
    }

    /** Files of versions before 2.0 do not say where iterations begin. */
    @Test
    void iterationsMayBeUnknown() {
        byte[] old = MODEL.clone();
        int key = new String(old, StandardCharsets.ISO_8859_1).indexOf("iteration_indptr");
        assertThat(key).isPositive();
        old[key] = 'I';
        assertThat(refusalOf(old)).isNull();
    }

    private static int leafOfFirstTree() {
        TreeModel.Tree tree =
                TreeModelParser.parse(ByteBuffer.wrap(MODEL)).trees().get(0);
        int node = 0;
        while (!tree.isLeaf(node)) {
            node++;
        }
        return node;
    }

    private static byte[] withElement(String key, int index, int value) {
        byte[] model = MODEL.clone();
        ByteBuffer.wrap(model).putInt(elements(model, key) + Integer.BYTES * index, value);
        return model;
    }

    /** Where the elements of the first typed array of a name begin: after its type and its count as a 64 bit integer. */
    private static int elements(byte[] model, String key) {
        int at = new String(model, StandardCharsets.ISO_8859_1).indexOf(key + "[$") + key.length();
        assertThat(at).isGreaterThanOrEqualTo(key.length());
        assertThat(model[at + 4]).isEqualTo((byte) 'L');
        return at + 5 + Long.BYTES;
    }

    private static @Nullable ContractException refusalOf(byte[] bytes) {
        try {
            TreeModel model = TreeModelParser.parse(ByteBuffer.wrap(bytes));
            float[] rows = new float[4 * Math.min(model.featureCount(), 1 << 16)];
            if (rows.length == 4 * model.featureCount() && model.outputCount() < 64) {
                FlatTrees.of(model, model.baseScores()).margins(rows, 4, new float[4 * model.outputCount()]);
            }
            return null;
        } catch (ContractException e) {
            assertThat(e.code()).isIn(ErrorCode.CORRUPT_PACKAGE, ErrorCode.UNSUPPORTED_KIND);
            return e;
        }
    }
}
