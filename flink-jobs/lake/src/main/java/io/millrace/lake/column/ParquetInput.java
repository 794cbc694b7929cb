package io.millrace.lake.column;

import java.io.IOException;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/** A lake file as parquet-java reads it; the bytes come through the table's own file access, whatever the storage. */
final class ParquetInput implements InputFile {
    private final org.apache.iceberg.io.InputFile file;

    ParquetInput(org.apache.iceberg.io.InputFile file) {
        this.file = file;
    }

    @Override
    public long getLength() {
        return file.getLength();
    }

    @Override
    public SeekableInputStream newStream() {
        org.apache.iceberg.io.SeekableInputStream stream = file.newStream();
        return new DelegatingSeekableInputStream(stream) {
            @Override
            public long getPos() throws IOException {
                return stream.getPos();
            }

            @Override
            public void seek(long position) throws IOException {
                stream.seek(position);
            }
        };
    }
}
