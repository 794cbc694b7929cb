package io.millrace.contract.bench;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.contract.envelope.ResponseEncoder;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.envelope.WireRow;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.contract.layout.ValueKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Nanoseconds per row of the gateway's work around the model: decode, transform, answer. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RowBenchmark {
    private static final int ROWS = 256;
    private static final int LEVELS = 50;

    /** Columns of a row; {@code mixed} makes every fourth a text. */
    @Param({"20", "100"})
    public int columnCount;

    /** Whether every fourth column is a text with 50 levels. */
    @Param({"false", "true"})
    public boolean mixed;

    private final RequestEnvelope request = new RequestEnvelope();
    private final ResponseEncoder response = new ResponseEncoder();
    private ByteBuffer requestSlab = ByteBuffer.allocate(0);
    private ByteBuffer responseSlab = ByteBuffer.allocate(0);
    private int requestLength;
    private WireRow row = new WireRow(List.of());
    private BoundTransform transform = one();
    private float[] out = {};

    private static BoundTransform one() {
        FittedPreprocessing fitted = fitted(List.of(new Column("c", ColumnType.FLOAT64, true)));
        return fitted.bind(fitted.inputs().columns());
    }

    private static FittedPreprocessing fitted(List<Column> columns) {
        List<String> levels = new ArrayList<>();
        for (int level = 0; level < LEVELS; level++) {
            levels.add("level " + level);
        }
        List<FittedColumn> fitted = new ArrayList<>();
        for (Column column : columns) {
            Encoder encoder =
                    column.type() == ColumnType.TEXT ? new Encoder.Ordinal(levels, false) : Encoder.none();
            fitted.add(new FittedColumn(column.name(), column.type(), Imputer.none(), encoder, Scaler.none()));
        }
        return new FittedPreprocessing(
                fitted, TargetMapping.regression("y", ColumnType.FLOAT64), new FittedCounts(ROWS, 0));
    }

    /** A request of 256 rows. */
    @Setup
    public void setUp() {
        List<Column> columns = new ArrayList<>();
        for (int index = 0; index < columnCount; index++) {
            ColumnType type = mixed && index % 4 == 3 ? ColumnType.TEXT : ColumnType.FLOAT64;
            columns.add(new Column("c" + index, type, true));
        }
        RowEncoder rows = new RowEncoder(columns);
        for (int index = 0; index < ROWS; index++) {
            rows.add(new GeneratedRow(index));
        }
        byte[] none = {};
        requestSlab = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        requestLength = RequestEnvelope.encode(
                requestSlab,
                0,
                ROWS,
                DescriptorParser.hash(DescriptorParser.encode(columns)),
                none,
                none,
                rows.rows());
        responseSlab = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        row = new WireRow(columns);
        FittedPreprocessing fitted = fitted(columns);
        transform = fitted.bind(columns);
        out = new float[ROWS * fitted.width()];
    }

    /** Bytes to vectors. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public float[] decodeAndTransform() {
        row.wrap(request.wrap(requestSlab, 0, requestLength));
        for (int offset = 0; row.next(); offset += transform.width()) {
            transform.apply(row, out, offset);
        }
        return out;
    }

    /** Finding where each value is, alone. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public WireRow decode() {
        row.wrap(request.wrap(requestSlab, 0, requestLength));
        while (row.next()) {
            // Walking is all.
        }
        return row;
    }

    /** One number per row. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int answer() {
        response.begin(responseSlab, 0, responseSlab.capacity(), ValueKind.SCALAR, ROWS, 1, 1);
        for (int index = 0; index < ROWS; index++) {
            response.scalar(index);
        }
        return response.length();
    }

    /** Values from the row's number; one in sixteen is NULL. */
    private record GeneratedRow(int index) implements RowReader {
        @Override
        public boolean isNull(int column) {
            return (index + column) % 16 == 0;
        }

        @Override
        public boolean booleanValue(int column) {
            return column % 2 == 0;
        }

        @Override
        public long int64(int column) {
            return index;
        }

        @Override
        public double float64(int column) {
            return index * 0.1 + column;
        }

        @Override
        public String text(int column) {
            return "level " + (index + column) % LEVELS;
        }
    }
}
