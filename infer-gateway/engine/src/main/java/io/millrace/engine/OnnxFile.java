package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/*
 * The runtime reads a model's weights from other files when the model says so, by a path the model names. So the file is
 * walked here first, without making anything of it but what is asked: whether it is a model at all, whether it stands
 * alone, and which classes it names. The walk follows Protocol Buffers' wire format; the numbers are those of onnx.proto.
 */

/** What an ONNX file says about itself; it is not trusted to run. */
final class OnnxFile {
    private static final int DEPTH_MAX = 64;

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    private static final int MODEL_IR_VERSION = 1;
    private static final int MODEL_GRAPH = 7;
    private static final int MODEL_FUNCTIONS = 25;
    private static final int GRAPH_NODE = 1;
    private static final int GRAPH_INITIALIZER = 5;
    private static final int GRAPH_SPARSE_INITIALIZER = 15;
    private static final int NODE_ATTRIBUTE = 5;
    private static final int FUNCTION_NODE = 7;
    private static final int ATTRIBUTE_NAME = 1;
    private static final int ATTRIBUTE_TENSOR = 5;
    private static final int ATTRIBUTE_GRAPH = 6;
    private static final int ATTRIBUTE_INTS = 8;
    private static final int ATTRIBUTE_STRINGS = 9;
    private static final int ATTRIBUTE_TENSORS = 10;
    private static final int ATTRIBUTE_GRAPHS = 11;
    private static final int ATTRIBUTE_SPARSE_TENSOR = 22;
    private static final int ATTRIBUTE_SPARSE_TENSORS = 23;
    private static final int SPARSE_VALUES = 1;
    private static final int SPARSE_INDICES = 2;
    private static final int TENSOR_EXTERNAL_DATA = 13;
    private static final int TENSOR_DATA_LOCATION = 14;

    private final ByteBuffer bytes;
    private int depth;
    private boolean hasGraph;
    private boolean hasVersion;
    private List<String> classes = List.of();
    private long treeNodes;

    // The field at the position, set by next().
    private int position;
    private int number;
    private int wireType;
    private long value;
    private int start;

    private OnnxFile(ByteBuffer bytes) {
        this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Walks a file.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} if it is no ONNX model, {@link
     *     ErrorCode#UNSUPPORTED_KIND} if it needs other files, {@link ErrorCode#MODEL_TOO_LARGE} from 2 GiB on
     */
    static OnnxFile read(Path file) {
        return read(ModelFile.map(file));
    }

    /** The same for bytes in memory, from 0 to the limit. */
    static OnnxFile read(ByteBuffer bytes) {
        OnnxFile file = new OnnxFile(bytes);
        file.message(0, bytes.limit(), file::modelField);
        if (!file.hasVersion || !file.hasGraph) {
            throw corrupt(
                    "file must be an ONNX model",
                    "length=" + bytes.limit() + ", irVersion=" + file.hasVersion + ", graph=" + file.hasGraph);
        }
        return file;
    }

    /** The classes that the last classifier of the graph names, in the order of its scores; empty when none does. */
    List<String> classes() {
        return classes;
    }

    /** Nodes of all trees of the graph. */
    long treeNodes() {
        return treeNodes;
    }

    private void modelField(int end) {
        switch (number) {
            case MODEL_IR_VERSION -> hasVersion = wireType == VARINT;
            case MODEL_GRAPH -> {
                hasGraph = true;
                nested(end, this::graphField);
            }
            case MODEL_FUNCTIONS -> nested(end, this::functionField);
            default -> {}
        }
    }

    private void functionField(int end) {
        if (number == FUNCTION_NODE) {
            nested(end, this::nodeField);
        }
    }

    private void graphField(int end) {
        switch (number) {
            case GRAPH_NODE -> nested(end, this::nodeField);
            case GRAPH_INITIALIZER -> nested(end, this::tensorField);
            case GRAPH_SPARSE_INITIALIZER -> nested(end, this::sparseField);
            default -> {}
        }
    }

    private void nodeField(int end) {
        if (number == NODE_ATTRIBUTE) {
            requireLength();
            attribute(start, end);
        }
    }

    /** Its name comes first by convention only, so it is looked for before the values are. */
    private void attribute(int from, int end) {
        StringBuilder name = new StringBuilder();
        message(from, end, fieldEnd -> {
            switch (number) {
                case ATTRIBUTE_NAME -> name.append(text(fieldEnd));
                case ATTRIBUTE_TENSOR, ATTRIBUTE_TENSORS -> nested(fieldEnd, this::tensorField);
                case ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS -> nested(fieldEnd, this::graphField);
                case ATTRIBUTE_SPARSE_TENSOR, ATTRIBUTE_SPARSE_TENSORS -> nested(fieldEnd, this::sparseField);
                default -> {}
            }
        });
        switch (name.toString()) {
            case "classlabels_strings", "classlabels_int64s", "classlabels_ints" -> {
                List<String> values = new ArrayList<>();
                message(from, end, fieldEnd -> value(fieldEnd, values::add));
                classes = values.isEmpty() ? classes : List.copyOf(values);
            }
            case "nodes_treeids" -> message(from, end, fieldEnd -> value(fieldEnd, node -> treeNodes++));
            default -> {}
        }
    }

    private void value(int end, Consumer<String> values) {
        if (number == ATTRIBUTE_STRINGS) {
            values.accept(text(end));
        } else if (number == ATTRIBUTE_INTS) {
            integers(end, values);
        }
    }

    private void sparseField(int end) {
        if (number == SPARSE_VALUES || number == SPARSE_INDICES) {
            nested(end, this::tensorField);
        }
    }

    private void tensorField(int end) {
        boolean external = number == TENSOR_EXTERNAL_DATA || (number == TENSOR_DATA_LOCATION && value != 0);
        if (external) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "model must hold its weights in the one file: offset=" + start + ", end=" + end);
        }
    }

    /** Repeated integers come packed, or one field each. */
    private void integers(int end, Consumer<String> values) {
        if (wireType == VARINT) {
            values.accept(Long.toString(value));
            return;
        }
        requireLength();
        int at = start;
        while (at < end) {
            position = at;
            values.accept(Long.toString(varint(end)));
            at = position;
        }
    }

    private String text(int end) {
        requireLength();
        byte[] text = new byte[end - start];
        bytes.get(start, text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private void requireLength() {
        if (wireType != LENGTH) {
            throw corrupt("field must have a length", "offset=" + start + ", field=" + number);
        }
    }

    /** Goes over the message that is the value of this field. */
    private void nested(int end, IntConsumer field) {
        requireLength();
        message(start, end, field);
    }

    /** Goes over the fields of one message; the consumer is given the end of the field's value. */
    private void message(int from, int end, IntConsumer field) {
        if (++depth > DEPTH_MAX) {
            throw corrupt("messages cannot be nested so deep", "offset=" + from + ", limit=" + DEPTH_MAX);
        }
        int at = from;
        while (at < end) {
            position = at;
            long tag = varint(end);
            number = (int) (tag >>> 3);
            wireType = (int) (tag & 7);
            value = 0;
            int next = valueEnd(end);
            at = next;
            field.accept(next);
        }
        depth--;
    }

    /** Where the value at the position ends; a number is read, anything longer is left where it is. */
    private int valueEnd(int end) {
        start = position;
        long length = switch (wireType) {
            case VARINT -> {
                value = varint(end);
                yield position - start;
            }
            case FIXED64 -> Long.BYTES;
            case FIXED32 -> Integer.BYTES;
            case LENGTH -> {
                long counted = varint(end);
                start = position;
                yield counted;
            }
            default -> throw corrupt("wire type is unknown", "offset=" + start + ", type=" + wireType);
        };
        if (length < 0 || length > end - start) {
            throw corrupt("field is truncated", "offset=" + start + ", length=" + length + ", end=" + end);
        }
        return start + (int) length;
    }

    private long varint(int end) {
        long result = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (position >= end) {
                throw corrupt("number is truncated", "offset=" + position + ", end=" + end);
            }
            byte part = bytes.get(position++);
            result |= (long) (part & 0x7F) << shift;
            if (part >= 0) {
                return result;
            }
        }
        throw corrupt("number is too long", "offset=" + position);
    }

    private static ContractException corrupt(String rule, String values) {
        return new ContractException(ErrorCode.CORRUPT_PACKAGE, rule + ": " + values);
    }
}
