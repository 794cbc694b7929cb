package io.millrace.engine;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** ONNX graphs put together node by node. */
public final class TestingGraphs {
    /** Element types by their numbers in onnx.proto. */
    public static final int FLOAT = 1;

    public static final int INT64 = 7;
    public static final int STRING = 8;
    public static final int DOUBLE = 11;

    /** Any number of rows. */
    public static final long ANY = -1;

    private static final String ML = "ai.onnx.ml";

    private final GraphProto.Builder graph = GraphProto.newBuilder().setName("testing");
    private int opset = 15;
    private int nodes;

    /** Weights of {@link #linear}, one for each feature, and the constant. */
    public static float weight(int feature) {
        return (feature + 1) * 0.5f - 1;
    }

    /** The constant of {@link #linear}. */
    public static final float BIAS = 0.25f;

    /** What {@link #linear} answers. */
    public static float linearAnswer(float... features) {
        double sum = BIAS;
        for (int feature = 0; feature < features.length; feature++) {
            sum += features[feature] * (double) weight(feature);
        }
        return (float) sum;
    }

    /** {@code y = x W + b}, one number a row. */
    public static TestingGraphs linear(int width) {
        return new TestingGraphs()
                .input("x", FLOAT, ANY, width)
                .gemm("x", width, 1, "y")
                .output("y", FLOAT, ANY, 1);
    }

    /** Softmax over as many linear scores as classes; column {@code c} has the weights of {@link #classWeight}. */
    public static TestingGraphs softmax(int width, int classes) {
        return new TestingGraphs()
                .input("x", FLOAT, ANY, width)
                .gemm("x", width, classes, "scores")
                .node("Softmax", "", List.of("scores"), List.of("p"), integer("axis", 1))
                .output("p", FLOAT, ANY, classes);
    }

    /** The weight of a feature for a class. */
    public static float classWeight(int feature, int classIndex, int classes) {
        return classes == 1 ? weight(feature) : (float) Math.sin(1.0 + feature * classes + classIndex);
    }

    /** Probabilities of {@link #softmax}. */
    public static double[] softmaxAnswer(int classes, float... features) {
        double[] scores = new double[classes];
        double highest = Double.NEGATIVE_INFINITY;
        for (int index = 0; index < classes; index++) {
            scores[index] = classes == 1 ? BIAS : bias(index);
            for (int feature = 0; feature < features.length; feature++) {
                scores[index] += features[feature] * (double) classWeight(feature, index, classes);
            }
            highest = Math.max(highest, scores[index]);
        }
        double sum = 0;
        for (int index = 0; index < classes; index++) {
            scores[index] = Math.exp(scores[index] - highest);
            sum += scores[index];
        }
        for (int index = 0; index < classes; index++) {
            scores[index] /= sum;
        }
        return scores;
    }

    private static float bias(int index) {
        return index * 0.1f;
    }

    /** Another version of the standard operators. */
    public TestingGraphs opset(int version) {
        opset = version;
        return this;
    }

    /** An input; a length of {@link #ANY} is open. */
    public TestingGraphs input(String name, int type, long... shape) {
        graph.addInput(value(name, type, shape));
        return this;
    }

    /** An output. */
    public TestingGraphs output(String name, int type, long... shape) {
        graph.addOutput(value(name, type, shape));
        return this;
    }

    /** An output that is a map from class to score for each row. */
    public TestingGraphs outputMaps(String name, int keyType) {
        TypeProto map = TypeProto.newBuilder()
                .setMapType(TypeProto.Map.newBuilder()
                        .setKeyType(keyType)
                        .setValueType(TypeProto.newBuilder()
                                .setTensorType(TypeProto.Tensor.newBuilder().setElemType(FLOAT))))
                .build();
        graph.addOutput(ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder()
                        .setSequenceType(TypeProto.Sequence.newBuilder().setElemType(map))));
        return this;
    }

    private static ValueInfoProto value(String name, int type, long... shape) {
        TensorShapeProto.Builder dimensions = TensorShapeProto.newBuilder();
        for (int index = 0; index < shape.length; index++) {
            TensorShapeProto.Dimension.Builder dimension = TensorShapeProto.Dimension.newBuilder();
            dimensions.addDim(
                    shape[index] < 0
                            ? dimension.setDimParam("d" + index).build()
                            : dimension.setDimValue(shape[index]).build());
        }
        return ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder()
                        .setTensorType(
                                TypeProto.Tensor.newBuilder().setElemType(type).setShape(dimensions)))
                .build();
    }

    /** A linear layer with the weights of {@link #classWeight}. */
    public TestingGraphs gemm(String input, int width, int outputs, String output) {
        float[] weights = new float[width * outputs];
        float[] biases = new float[outputs];
        for (int out = 0; out < outputs; out++) {
            for (int feature = 0; feature < width; feature++) {
                weights[feature * outputs + out] = classWeight(feature, out, outputs);
            }
            biases[out] = outputs == 1 ? BIAS : bias(out);
        }
        String suffix = "_" + nodes;
        return constant("W" + suffix, weights, width, outputs)
                .constant("B" + suffix, biases, outputs)
                .node("Gemm", "", List.of(input, "W" + suffix, "B" + suffix), List.of(output));
    }

    /** A constant. */
    public TestingGraphs constant(String name, float[] values, long... shape) {
        graph.addInitializer(tensor(name, values, shape));
        return this;
    }

    /** A constant of integers. */
    public TestingGraphs constant(String name, long[] values, long... shape) {
        TensorProto.Builder tensor = TensorProto.newBuilder().setName(name).setDataType(INT64);
        for (long length : shape) {
            tensor.addDims(length);
        }
        for (long value : values) {
            tensor.addInt64Data(value);
        }
        graph.addInitializer(tensor);
        return this;
    }

    private static TensorProto tensor(String name, float[] values, long... shape) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        TensorProto.Builder tensor =
                TensorProto.newBuilder().setName(name).setDataType(FLOAT).setRawData(ByteString.copyFrom(bytes));
        for (long length : shape) {
            tensor.addDims(length);
        }
        return tensor.build();
    }

    /** A constant whose bytes are in another file. */
    public TestingGraphs externalConstant(String name, String location, long... shape) {
        TensorProto.Builder tensor = TensorProto.newBuilder()
                .setName(name)
                .setDataType(FLOAT)
                .setDataLocation(TensorProto.DataLocation.EXTERNAL);
        tensor.addExternalDataBuilder().setKey("location").setValue(location);
        for (long length : shape) {
            tensor.addDims(length);
        }
        graph.addInitializer(tensor);
        return this;
    }

    /** A node of the standard operators or of {@code ai.onnx.ml}. */
    public TestingGraphs node(
            String operator, String domain, List<String> inputs, List<String> outputs, AttributeProto... attributes) {
        graph.addNode(NodeProto.newBuilder()
                .setName("node" + nodes++)
                .setOpType(operator)
                .setDomain(domain)
                .addAllInput(inputs)
                .addAllOutput(outputs)
                .addAllAttribute(List.of(attributes)));
        return this;
    }

    /** A node of {@code ai.onnx.ml}. */
    public TestingGraphs learnt(
            String operator, List<String> inputs, List<String> outputs, AttributeProto... attributes) {
        return node(operator, ML, inputs, outputs, attributes);
    }

    /**
     * {@code ai.onnx.ml.LinearClassifier}: a label and probabilities, with the weights of {@link #classWeight}.
     *
     * @param names of the classes, in the order of the scores
     */
    public TestingGraphs linearClassifier(String input, int width, List<String> names, String label, String scores) {
        List<Float> coefficients = new ArrayList<>();
        List<Float> intercepts = new ArrayList<>();
        for (int index = 0; index < names.size(); index++) {
            for (int feature = 0; feature < width; feature++) {
                coefficients.add(classWeight(feature, index, names.size()));
            }
            intercepts.add(bias(index));
        }
        return learnt(
                "LinearClassifier",
                List.of(input),
                List.of(label, scores),
                floats("coefficients", coefficients),
                floats("intercepts", intercepts),
                texts("classlabels_strings", names),
                text("post_transform", "SOFTMAX"));
    }

    /** A flag or number of a node. */
    public static AttributeProto integer(String name, long value) {
        return AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.INT)
                .setI(value)
                .build();
    }

    /** A number of a node. */
    public static AttributeProto real(String name, float value) {
        return AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.FLOAT)
                .setF(value)
                .build();
    }

    /** A text of a node. */
    public static AttributeProto text(String name, String value) {
        return AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.STRING)
                .setS(ByteString.copyFromUtf8(value))
                .build();
    }

    /** Texts of a node. */
    public static AttributeProto texts(String name, List<String> values) {
        AttributeProto.Builder attribute =
                AttributeProto.newBuilder().setName(name).setType(AttributeProto.AttributeType.STRINGS);
        values.forEach(value -> attribute.addStrings(ByteString.copyFromUtf8(value)));
        return attribute.build();
    }

    /** Integers of a node. */
    public static AttributeProto integers(String name, List<Long> values) {
        return AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.INTS)
                .addAllInts(values)
                .build();
    }

    /** Numbers of a node. */
    public static AttributeProto floats(String name, List<Float> values) {
        return AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.FLOATS)
                .addAllFloats(values)
                .build();
    }

    /** The file's bytes. */
    public byte[] bytes() {
        return ModelProto.newBuilder()
                .setIrVersion(8)
                .setProducerName("testing")
                .setGraph(graph)
                .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("").setVersion(opset))
                .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain(ML).setVersion(3))
                .build()
                .toByteArray();
    }

    /** Writes {@value Engines#ONNX_FILE} into a directory, which is made if absent. */
    public Path write(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Files.write(directory.resolve(Engines.ONNX_FILE), bytes());
    }
}
