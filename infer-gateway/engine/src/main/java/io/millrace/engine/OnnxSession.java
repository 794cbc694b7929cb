package io.millrace.engine;

import ai.onnxruntime.MapInfo;
import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.SequenceInfo;
import ai.onnxruntime.TensorInfo;
import ai.onnxruntime.ValueInfo;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/*
 * One thread per run, the caller's: parallelism comes from many requests. The arena and the plans of memory that the
 * runtime would remember for each batch size are off, since batch sizes vary with load and both only grow.
 */

/** A graph in the native library, and what goes in and comes out of it. */
final class OnnxSession implements AutoCloseable {
    private static final String FAILED_MARK = " failed:";
    /** The file, line and function of the runtime's source that its words may begin with. */
    private static final Pattern SOURCE_PLACE = Pattern.compile("^/\\S+:\\d+ .+?\\)( const)? (?=\\S)");

    private static final int REASON_LENGTH_MAX = 600;

    private final OrtSession session;
    private final List<Port> inputs;
    private final List<Port> outputs;

    /**
     * An input or an output.
     *
     * @param type of its elements; of its numbers when it is a list of maps; null when it is something else
     * @param shape lengths, -1 for any; empty when the graph does not say
     * @param maps whether it is a list with a map from class to score for each row
     */
    record Port(String name, @Nullable OnnxJavaType type, List<Long> shape, boolean maps) {
        boolean isReal() {
            return type == OnnxJavaType.FLOAT || type == OnnxJavaType.DOUBLE;
        }

        /** Whether it may hold one value for each row. */
        boolean isColumn() {
            return shape.size() <= 1 || (shape.size() == 2 && (shape.get(1) == 1 || shape.get(1) < 0));
        }

        /** For messages: {@code float[-1, 3]}. */
        String describe() {
            String element = type == null ? "unknown" : type.name().toLowerCase(Locale.ROOT);
            return maps ? "maps of " + element : element + shape;
        }
    }

    private OnnxSession(OrtSession session) throws OrtException {
        this.session = session;
        this.inputs = ports(session.getInputInfo().values());
        this.outputs = ports(session.getOutputInfo().values());
    }

    private static List<Port> ports(Collection<NodeInfo> nodes) {
        List<Port> ports = new ArrayList<>();
        for (NodeInfo node : nodes) {
            ports.add(port(node.getName(), node.getInfo()));
        }
        return List.copyOf(ports);
    }

    private static Port port(String name, ValueInfo info) {
        if (info instanceof TensorInfo tensor) {
            List<Long> shape = Arrays.stream(tensor.getShape()).boxed().toList();
            return new Port(name, tensor.type, shape, false);
        }
        if (info instanceof SequenceInfo sequence && sequence.isSequenceOfMaps()) {
            MapInfo map = sequence.mapInfo;
            return new Port(name, map.valueType, List.of(), true);
        }
        return new Port(name, null, List.of(), false);
    }

    /**
     * Loads a file.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} with the runtime's reason if it refuses
     */
    static OnnxSession open(Path file) {
        OrtEnvironment environment = OnnxLibrary.environment();
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setIntraOpNumThreads(1);
            options.setInterOpNumThreads(1);
            options.setExecutionMode(OrtSession.SessionOptions.ExecutionMode.SEQUENTIAL);
            options.setMemoryPatternOptimization(false);
            options.setCPUArenaAllocator(false);
            options.addConfigEntry("session.intra_op.allow_spinning", "0");
            options.addConfigEntry("session.inter_op.allow_spinning", "0");
            OrtSession session = environment.createSession(file.toString(), options);
            try {
                return new OnnxSession(session);
            } catch (OrtException | RuntimeException e) {
                session.close();
                throw e;
            }
        } catch (OrtException e) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model cannot be loaded: code=" + e.getCode() + ", cause=" + reason(e, file),
                    e);
        }
    }

    /** The runtime's words without the place of the file, which it puts in front of them. */
    private static String reason(OrtException failure, Path file) {
        String message = String.valueOf(failure.getMessage()).replace(file.toString(), "");
        int words = message.indexOf(FAILED_MARK);
        String line = (words < 0 ? message : message.substring(words + FAILED_MARK.length()))
                .lines()
                .filter(text -> !text.isBlank())
                .findFirst()
                .orElse("");
        String plain = SOURCE_PLACE.matcher(line).replaceFirst("");
        return plain.length() <= REASON_LENGTH_MAX ? plain : plain.substring(0, REASON_LENGTH_MAX) + "...";
    }

    List<Port> inputs() {
        return inputs;
    }

    List<Port> outputs() {
        return outputs;
    }

    /** The output with a name, or null. */
    @Nullable
    Port output(String name) {
        return outputs.stream()
                .filter(port -> port.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    OrtSession natively() {
        return session;
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (OrtException e) {
            throw new IllegalStateException("native session cannot be closed: code=" + e.getCode(), e);
        }
    }
}
