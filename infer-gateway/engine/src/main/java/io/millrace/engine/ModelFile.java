package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** How a model file is read: mapped, so that its bytes are not on the heap as well as what is made of them. */
final class ModelFile {
    private ModelFile() {}

    /**
     * Maps a whole file; it stays mapped until the buffer is collected.
     *
     * @throws ContractException {@link ErrorCode#MODEL_TOO_LARGE} from 2 GiB on, {@link ErrorCode#IO_FAILED}
     */
    static MappedByteBuffer map(Path file) {
        try (FileChannel channel = FileChannel.open(file)) {
            long length = channel.size();
            if (length > Integer.MAX_VALUE) {
                throw new ContractException(
                        ErrorCode.MODEL_TOO_LARGE,
                        "model file must be mappable: length=" + length + ", limit=" + Integer.MAX_VALUE);
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, length);
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED, "model file cannot be read: file=" + file + ", cause=" + e.getMessage(), e);
        }
    }
}
