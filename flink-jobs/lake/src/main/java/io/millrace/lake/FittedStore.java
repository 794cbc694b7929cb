package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedPreprocessing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.iceberg.BlobMetadata;
import org.apache.iceberg.GenericBlobMetadata;
import org.apache.iceberg.GenericStatisticsFile;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StatisticsFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.puffin.Blob;
import org.apache.iceberg.puffin.Puffin;
import org.apache.iceberg.puffin.PuffinCompressionCodec;
import org.apache.iceberg.puffin.PuffinReader;
import org.apache.iceberg.puffin.PuffinWriter;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.Pair;
import org.jspecify.annotations.Nullable;

/*
 * A snapshot has one statistics file, which other tools write too. So every write reads the blobs that are there, adds or replaces its
 * own, writes a new file and sets it only if the table still has the file that was read; otherwise it starts again.
 */

/**
 * Fitted preprocessing beside the rows it was fitted on: a blob of the snapshot's Puffin file. It travels, is rolled back and expires
 * with its snapshot; a tag keeps both.
 */
public final class FittedStore {
    /** Type of the blob: a document of {@link FittedPreprocessing}. */
    public static final String BLOB_TYPE = "millrace-fitted-v1";

    private static final String SNAPSHOT_ID = "snapshot-id";
    private static final String FITTED_ID = "fitted-id";

    private FittedStore() {}

    /**
     * Stores a fitted preprocessing, in place of an earlier one of the same request; every other blob of the snapshot is kept.
     *
     * @param snapshotId of {@code ml.snapshots}
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the snapshot is not (or no more) in the table
     */
    public static void write(Table table, long icebergSnapshotId, long snapshotId, FittedPreprocessing fitted) {
        TableUpdates.commit(table, current -> withBlob(table, current, icebergSnapshotId, snapshotId, fitted));
        table.refresh();
    }

    /**
     * Reads a fitted preprocessing.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if there is none; {@link ErrorCode#CORRUPT_FITTED} if its bytes are not
     *     those that were written
     */
    public static FittedPreprocessing read(Table table, long icebergSnapshotId, long snapshotId) {
        StatisticsFile file = statisticsFile(table.statisticsFiles(), icebergSnapshotId);
        if (file != null) {
            for (Blob blob : blobs(table, file)) {
                if (isOf(blob, snapshotId)) {
                    return parse(table, snapshotId, blob);
                }
            }
        }
        throw new ContractException(
                ErrorCode.INVALID_VALUE,
                "snapshot has no fitted preprocessing: table=" + table.name() + ", snapshot=" + icebergSnapshotId
                        + ", snapshotId=" + snapshotId);
    }

    private static TableMetadata withBlob(
            Table table, TableMetadata current, long icebergSnapshotId, long snapshotId, FittedPreprocessing fitted) {
        Snapshot snapshot = current.snapshot(icebergSnapshotId);
        if (snapshot == null) {
            // Iceberg would accept the file and keep it for ever.
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "snapshot is not in the table: table=" + table.name() + ", snapshot=" + icebergSnapshotId);
        }
        List<Blob> blobs = new ArrayList<>();
        StatisticsFile existing = statisticsFile(current.statisticsFiles(), icebergSnapshotId);
        if (existing != null) {
            for (Blob blob : blobs(table, existing)) {
                if (isOf(blob, snapshotId)) {
                    if (fitted.fittedId().equals(blob.properties().get(FITTED_ID))) {
                        return current;
                    }
                } else {
                    blobs.add(blob);
                }
            }
        }
        blobs.add(blob(current, snapshot, snapshotId, fitted));
        return TableMetadata.buildFrom(current)
                .setStatistics(writeFile(table, current, snapshot, blobs))
                .build();
    }

    private static Blob blob(TableMetadata current, Snapshot snapshot, long snapshotId, FittedPreprocessing fitted) {
        Schema schema = Objects.requireNonNullElse(current.schemasById().get(snapshot.schemaId()), current.schema());
        List<Integer> fields = new ArrayList<>();
        for (FittedColumn column : fitted.columns()) {
            Types.NestedField field = schema.findField(column.name());
            if (field != null) {
                fields.add(field.fieldId());
            }
        }
        return new Blob(
                BLOB_TYPE,
                fields,
                snapshot.snapshotId(),
                snapshot.sequenceNumber(),
                ByteBuffer.wrap(fitted.toJson()),
                PuffinCompressionCodec.ZSTD,
                Map.of(SNAPSHOT_ID, Long.toString(snapshotId), FITTED_ID, fitted.fittedId()));
    }

    private static StatisticsFile writeFile(Table table, TableMetadata current, Snapshot snapshot, List<Blob> blobs) {
        String location =
                current.location() + "/metadata/fitted-" + snapshot.snapshotId() + "-" + UUID.randomUUID() + ".puffin";
        try (PuffinWriter writer = Puffin.write(table.io().newOutputFile(location))
                .createdBy("Millrace")
                .build()) {
            blobs.forEach(writer::add);
            writer.finish();
            List<BlobMetadata> written = new ArrayList<>();
            for (org.apache.iceberg.puffin.BlobMetadata blob : writer.writtenBlobsMetadata()) {
                written.add(GenericBlobMetadata.from(blob));
            }
            return new GenericStatisticsFile(
                    snapshot.snapshotId(), location, writer.fileSize(), writer.footerSize(), written);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Blob> blobs(Table table, StatisticsFile file) {
        try (PuffinReader reader = Puffin.read(table.io().newInputFile(file.path()))
                .withFileSize(file.fileSizeInBytes())
                .withFooterSize(file.fileFooterSizeInBytes())
                .build()) {
            List<Blob> blobs = new ArrayList<>();
            for (Pair<org.apache.iceberg.puffin.BlobMetadata, ByteBuffer> pair :
                    reader.readAll(reader.fileMetadata().blobs())) {
                org.apache.iceberg.puffin.BlobMetadata metadata = pair.first();
                blobs.add(new Blob(
                        metadata.type(),
                        metadata.inputFields(),
                        metadata.snapshotId(),
                        metadata.sequenceNumber(),
                        pair.second(),
                        codec(metadata.compressionCodec()),
                        metadata.properties()));
            }
            return blobs;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PuffinCompressionCodec codec(@Nullable String name) {
        return PuffinCompressionCodec.forName(name);
    }

    private static boolean isOf(Blob blob, long snapshotId) {
        return blob.type().equals(BLOB_TYPE)
                && Long.toString(snapshotId).equals(blob.properties().get(SNAPSHOT_ID));
    }

    private static FittedPreprocessing parse(Table table, long snapshotId, Blob blob) {
        byte[] bytes = new byte[blob.blobData().remaining()];
        blob.blobData().duplicate().get(bytes);
        FittedPreprocessing fitted = FittedPreprocessing.parse(bytes);
        String expected = blob.properties().get(FITTED_ID);
        if (!fitted.fittedId().equals(expected)) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted preprocessing is not what was written: table=" + table.name() + ", snapshotId=" + snapshotId
                            + ", fittedId=" + fitted.fittedId() + ", expected=" + expected);
        }
        return fitted;
    }

    private static @Nullable StatisticsFile statisticsFile(List<StatisticsFile> files, long icebergSnapshotId) {
        for (StatisticsFile file : files) {
            if (file.snapshotId() == icebergSnapshotId) {
                return file;
            }
        }
        return null;
    }
}
