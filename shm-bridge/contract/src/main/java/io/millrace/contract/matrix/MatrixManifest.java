package io.millrace.contract.matrix;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import java.util.ArrayList;
import java.util.List;

/**
 * Size and checksum of the other files of a matrix.
 *
 * @param files in the order they were written
 */
record MatrixManifest(List<FileEntry> files) {
    /**
     * One file.
     *
     * @param name of the file in the directory
     * @param bytes its size
     * @param checksum CRC32C of its content
     */
    record FileEntry(String name, long bytes, int checksum) {}

    MatrixManifest {
        files = List.copyOf(files);
    }

    /**
     * Reads the document.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_MATRIX} if anything else is wrong
     */
    static MatrixManifest parse(byte[] document) {
        JsonObject json = JsonObject.parse(document, "matrix manifest", ErrorCode.CORRUPT_MATRIX);
        MatrixHeader.checkVersion(json.integer("format-version", 0, Integer.MAX_VALUE));
        List<FileEntry> files = new ArrayList<>();
        for (JsonObject entry : json.objects("files")) {
            files.add(new FileEntry(entry.string("name"), entry.integer("bytes", 0, Long.MAX_VALUE), (int)
                    entry.integer("crc32c", 0, 0xffff_ffffL)));
            entry.finish();
        }
        json.finish();
        return new MatrixManifest(files);
    }

    byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeNumberField("format-version", MatrixLayout.VERSION);
            out.writeArrayFieldStart("files");
            for (FileEntry file : files) {
                out.writeStartObject();
                out.writeStringField("name", file.name());
                out.writeNumberField("bytes", file.bytes());
                out.writeNumberField("crc32c", Integer.toUnsignedLong(file.checksum()));
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        });
    }

    /** The entry of a file, which must be there. */
    FileEntry file(String name) {
        for (FileEntry file : files) {
            if (file.name().equals(name)) {
                return file;
            }
        }
        throw new ContractException(ErrorCode.CORRUPT_MATRIX, "matrix manifest lacks a file: file=" + name);
    }
}
