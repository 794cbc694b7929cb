package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ColumnType;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.testing.TestingLake;
import io.millrace.lake.testing.TestingTable;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.iceberg.data.Record;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FitterTest {
    @TempDir
    Path directory;

    private Lake lake;

    @BeforeEach
    void open() {
        lake = Lake.open(TestingLake.sqlite(directory));
    }

    @AfterEach
    void close() {
        lake.close();
    }

    @Test
    void fitsWhatIsLiveAndNothingElse() {
        TestingTable rows = TestingLake.table(
                lake, "t", "id integer", "age integer", "fee numeric(8,2)", "plan text", "since date", "left boolean");
        rows.append(List.of(
                rows.row(1, 10, new BigDecimal("1.50"), "gone", LocalDate.EPOCH, true),
                rows.row(2, 20, null, "a", LocalDate.EPOCH.plusDays(4), true),
                rows.row(3, 30, new BigDecimal("2.50"), "b", null, false)));
        rows.change(
                List.of(rows.row(4, null, null, null, null, null)), List.of(rows.row(1, 0, null, null, null, null)));
        FittedPreprocessing fitted =
                new Fitter().fit(rows.table(), rows.snapshotId(), request("left", "{'default': 'linear'}"));
        assertThat(fitted.inputs().columns()).extracting("name").containsExactly("age", "fee", "plan", "since");
        assertThat(fitted.inputs().columns())
                .extracting("type")
                .containsExactly(ColumnType.INT64, ColumnType.FLOAT64, ColumnType.TEXT, ColumnType.DATE);
        assertThat(fitted.columns().get(0).imputer().value()).isEqualTo(25);
        assertThat(fitted.columns().get(1).imputer().value()).isEqualTo(2.5);
        assertThat(fitted.columns().get(2).encoder()).isEqualTo(new Encoder.OneHot(List.of("a", "b"), false));
        assertThat(fitted.columns().get(3).imputer().value()).isEqualTo(4);
        assertThat(fitted.target().labels()).containsExactly("false", "true");
        assertThat(fitted.counts().rows()).isEqualTo(3);
        assertThat(fitted.counts().nullLabelRows()).isEqualTo(1);
    }

    @Test
    void givesTheSameBytesForTheSameSnapshotAndReadsOnlyWhatIsNew() {
        TestingTable rows =
                TestingLake.table(lake, "t", "id integer", "x double precision", "c text", "y double precision");
        Random random = new Random(7);
        List<List<Record>> files = new ArrayList<>();
        for (int file = 0; file < 4; file++) {
            List<Record> part = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                int id = file * 3_000 + i;
                part.add(rows.row(id, random.nextGaussian() * 1e3, "c" + random.nextInt(9), random.nextDouble()));
            }
            files.add(part);
        }
        rows.appendFiles(files);
        long first = rows.snapshotId();
        Fitter fitter = new Fitter();
        FitRequest request = request("y", "{'default': 'linear', 'x': {'scale': 'robust'}}");
        FittedPreprocessing before = fitter.fit(rows.table(), first, request);
        assertThat(fitter.filesRead()).isEqualTo(4);

        // One new file and a delete that touches one old file: two files are read, three are known.
        rows.change(List.of(rows.row(100_000, 5.0, "new", 0.5)), List.of(rows.row(0, null, null, null)));
        long second = rows.snapshotId();
        FittedPreprocessing after = fitter.fit(rows.table(), second, request);
        assertThat(fitter.filesRead()).isEqualTo(6);
        assertThat(after.fittedId()).isNotEqualTo(before.fittedId());
        assertThat(after.counts().rows()).isEqualTo(12_000);

        assertThat(fitter.fit(rows.table(), first, request).toJson()).isEqualTo(before.toJson());
        assertThat(new Fitter().fit(rows.table(), second, request).toJson()).isEqualTo(after.toJson());
        assertThat(new Fitter().fit(lake.table("public.t"), first, request).fittedId())
                .isEqualTo(before.fittedId());
    }

    @Test
    void takesNamedFeaturesInTheOrderOfTheTable() {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "a integer", "b integer", "y integer");
        rows.append(List.of(rows.row(1, 1, 1, 0), rows.row(2, 2, 2, 1)));
        FitRequest request = new FitRequest(1, "y", List.of("id"), List.of("b", "a"), Task.CLASSIFICATION, null);
        assertThat(new Fitter().fit(rows.table(), rows.snapshotId(), request).featureNames())
                .containsExactly("a", "b");
    }

    @Test
    void namesTheColumnThatIsWrong() {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "income real", "y integer");
        rows.append(List.of(rows.row(1, 1f, 0), rows.row(2, 2f, 1)));
        assertFails(
                rows,
                new FitRequest(1, "yy", List.of("id"), null, null, null),
                "column is not in the snapshot: column=yy, nearest=y");
        assertFails(
                rows,
                new FitRequest(1, "y", List.of("id"), List.of("incom"), null, null),
                "column is not in the snapshot: column=incom, nearest=income");
        assertFails(
                rows,
                new FitRequest(1, "y", List.of("id"), List.of("y"), null, null),
                "label cannot be a feature: column=y");
        assertFails(
                rows,
                new FitRequest(1, "y", List.of("id"), List.of("income", "income"), null, null),
                "feature is named more than once: column=income");
        assertFails(
                rows,
                new FitRequest(1, "y", List.of("id", "income"), null, null, null),
                "snapshot has no feature column: label=y, keys=[id, income]");
        assertFails(
                rows,
                request("y", "{'incom': {}}"),
                "preprocess names a column that is no feature: column=incom, nearest=income");
        assertThatThrownBy(() -> new Fitter().fit(rows.table(), 12, request("y", "{}")))
                .hasMessage("snapshot is not in the table: table=millrace.public.t, snapshot=12");
    }

    @Test
    void anEmptyTableIsAClearError() {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "x real", "y integer");
        rows.table().newAppend().commit();
        assertFails(rows, request("y", "{}"), "snapshot has no rows: label=y");
    }

    private static void assertFails(TestingTable rows, FitRequest request, String message) {
        assertThatThrownBy(() -> new Fitter().fit(rows.table(), rows.snapshotId(), request))
                .hasMessage(message);
    }

    private static FitRequest request(String label, String preprocess) {
        try {
            return new FitRequest(
                    1, label, List.of("id"), null, null, new ObjectMapper().readTree(preprocess.replace('\'', '"')));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(preprocess, e);
        }
    }
}
