package io.millrace.gateway.http;

import static io.millrace.gateway.http.TestingHttp.assertError;
import static io.millrace.gateway.http.TestingHttp.madeUpKey;
import static io.millrace.gateway.http.TestingHttp.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ColumnType;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.engine.Scorer;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.engine.TestingRow;
import io.millrace.gateway.core.ServedModel;
import io.millrace.gateway.core.TestingScorer;
import io.millrace.gateway.core.TestingServedModels;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is asked and what is answered. */
class HttpConnectorTest {
    private static final String ALL_OUTPUTS =
            "[{\"name\":\"prediction\"},{\"name\":\"probabilities\"},{\"name\":\"label\"}]";
    private static final String ALL_BINARY = "[{\"name\":\"prediction\",\"parameters\":{\"binary_data\":true}},"
            + "{\"name\":\"probabilities\",\"parameters\":{\"binary_data\":true}},"
            + "{\"name\":\"label\",\"parameters\":{\"binary_data\":true}}]";
    private static final String NAME = "Wörk 🚀/\"churn\" 100%+";

    private static TestingHttp http;
    private static TestingPackage binary;
    private static TestingPackage multiclass;
    private static TestingPackage regression;
    private static final TestingScorer echo = new TestingScorer();

    @BeforeAll
    static void start() throws IOException {
        http = new TestingHttp(Map.of("http-request-bytes-max", "300000", "http-rows-max", "5000"));
        binary = TestingModels.binary(http.freshDirectory(), 1);
        multiclass = TestingModels.multiclass(http.freshDirectory(), 2);
        regression = TestingModels.regression(http.freshDirectory(), 3);
        http.deploy(NAME, 11, binary);
        http.deploy("multiclass", 12, multiclass);
        http.deploy("regression", 13, regression);
        http.deploy("echo", 14, key -> TestingServedModels.regression(key, echo, 1_000, 65_536));
        http.deploy("sum", 15, HttpConnectorTest::sum);
        http.create("untrained");
    }

    @AfterAll
    static void stop() throws IOException {
        http.close();
    }

    @AfterEach
    void nothingIsHeld() {
        http.awaitIdle();
    }

    /** A model of three numbers: a + 2 b + 4 c. */
    private static ServedModel sum(long key) {
        List<FittedColumn> columns = IntStream.of(0, 1, 2)
                .mapToObj(index -> new FittedColumn(
                        List.of("a", "b", "c").get(index),
                        List.of(ColumnType.FLOAT64, ColumnType.INT64, ColumnType.BOOLEAN)
                                .get(index),
                        Imputer.none(),
                        Encoder.none(),
                        Scaler.none()))
                .toList();
        FittedPreprocessing fitted = new FittedPreprocessing(
                columns, TargetMapping.regression("y", ColumnType.FLOAT64), new FittedCounts(10, 0));
        Scorer scorer = new Scorer() {
            @Override
            public int width() {
                return 3;
            }

            @Override
            public int outputs() {
                return 1;
            }

            @Override
            public void score(float[] features, int rowCount, float[] out) {
                for (int row = 0; row < rowCount; row++) {
                    out[row] = features[3 * row] + 2 * features[3 * row + 1] + 4 * features[3 * row + 2];
                }
            }

            @Override
            public long residentBytes() {
                return 100;
            }

            @Override
            public void close() {}
        };
        return new ServedModel(key, 15, "sum/15", Task.REGRESSION, List.of(), fitted, scorer, 1_000, 65_536);
    }

    @Test
    void saysWhatItIs() throws IOException {
        assertThat(http.get("/v2").text())
                .isEqualTo("{\"name\":\"millrace\",\"version\":\"1.2.3\","
                        + "\"extensions\":[\"binary_tensor_data\",\"model_repository\"]}");
        assertThat(http.get("/v2/health/live").text()).isEqualTo("{\"live\":true}");
        assertThat(http.get("/v2/health/ready").text()).isEqualTo("{\"ready\":true}");
    }

    @Test
    void describesModelsWithTheirColumns() throws IOException {
        String inputs = "\"inputs\":[{\"name\":\"tenure\",\"datatype\":\"INT64\",\"shape\":[-1]},"
                + "{\"name\":\"charge\",\"datatype\":\"FP64\",\"shape\":[-1]},"
                + "{\"name\":\"plan\",\"datatype\":\"BYTES\",\"shape\":[-1]},"
                + "{\"name\":\"active\",\"datatype\":\"BOOL\",\"shape\":[-1]},"
                + "{\"name\":\"joined\",\"datatype\":\"BYTES\",\"shape\":[-1]}]";
        String prediction = "\"outputs\":[{\"name\":\"prediction\",\"datatype\":\"FP64\",\"shape\":[-1]}";
        String expected =
                "{\"name\":\"multiclass\",\"versions\":[\"12\"],\"platform\":\"testing-format\"," + inputs + ","
                        + prediction + ",{\"name\":\"probabilities\",\"datatype\":\"FP64\",\"shape\":[-1,3]},"
                        + "{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[-1]}]}";
        assertThat(http.get("/v2/models/multiclass").text()).isEqualTo(expected);
        assertThat(http.get("/v2/models/multiclass/versions/12").text()).isEqualTo(expected);
        assertThat(http.get("/v2/models/regression").text())
                .isEqualTo("{\"name\":\"regression\",\"versions\":[\"13\"],\"platform\":\"testing-format\"," + inputs
                        + "," + prediction + "]}");
    }

    @Test
    void answersBitForBitWhatTheModelSays() throws IOException {
        List<TestingRow> rows = binary.testRows();
        float[][] scores = TestingRows.scores(binary, rows);
        TestingHttp.Answer answer = http.infer(NAME, TestingRows.columns(binary, rows, ALL_OUTPUTS));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.at("model_name")).isEqualTo(NAME);
        assertThat(answer.at("model_version")).isEqualTo("11");
        assertThat(answer.at("outputs", 0, "shape")).isEqualTo(List.of(100L));
        assertThat(answer.at("outputs", 1, "shape")).isEqualTo(List.of(100L, 2L));
        for (int row = 0; row < rows.size(); row++) {
            double yes = scores[row][0];
            assertThat(answer.at("outputs", 0, "data", row)).isEqualTo(yes);
            assertThat(answer.at("outputs", 1, "data", 2 * row)).isEqualTo(1 - yes);
            assertThat(answer.at("outputs", 1, "data", 2 * row + 1)).isEqualTo(yes);
            assertThat(answer.at("outputs", 2, "data", row)).isEqualTo(yes >= 0.5 ? "yes" : "no");
        }
    }

    @Test
    void oneRowAtATimeAndOtherTasksToo() throws IOException {
        List<TestingRow> rows = multiclass.testRows().subList(0, 20);
        float[][] scores = TestingRows.scores(multiclass, rows);
        for (int row = 0; row < rows.size(); row++) {
            String body = TestingRows.columns(multiclass, rows.subList(row, row + 1), ALL_OUTPUTS);
            TestingHttp.Answer answer = http.infer("multiclass", body);
            int best = 0;
            for (int index = 0; index < 3; index++) {
                assertThat(answer.at("outputs", 1, "data", index)).isEqualTo((double) scores[row][index]);
                best = scores[row][index] > scores[row][best] ? index : best;
            }
            assertThat(answer.at("outputs", 0, "data", 0)).isEqualTo((double) best);
            assertThat(answer.at("outputs", 2, "data", 0))
                    .isEqualTo(multiclass.manifest().labels().get(best));
        }
        rows = regression.testRows();
        scores = TestingRows.scores(regression, rows);
        TestingHttp.Answer answer = http.infer("regression", TestingRows.columns(regression, rows, "[]"));
        assertThat(answer.at("outputs", 0, "name")).isEqualTo("prediction");
        for (int row = 0; row < rows.size(); row++) {
            assertThat(answer.at("outputs", 0, "data", row)).isEqualTo((double) scores[row][0]);
        }
    }

    @Test
    void binaryTensorsAreAnsweredBitForBitInBinary() throws IOException {
        List<TestingRow> rows = multiclass.testRows().stream()
                .filter(row -> row.values().stream().allMatch(Objects::nonNull))
                .toList();
        float[][] scores = TestingRows.scores(multiclass, rows);
        TestingRows.Binary request = TestingRows.binary(multiclass, rows, ALL_BINARY);
        TestingHttp.Answer answer = http.send(http.request("/v2/models/multiclass/versions/12/infer")
                .header("Inference-Header-Content-Length", Integer.toString(request.jsonLength()))
                .POST(request.body()));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.header("Content-Type")).isEqualTo("application/octet-stream");
        int jsonLength = Integer.parseInt(answer.header("Inference-Header-Content-Length"));
        Object json = TestingJson.parse(new String(answer.bytes(), 0, jsonLength, StandardCharsets.UTF_8));
        assertThat(TestingJson.at(json, "outputs", 0, "parameters", "binary_data_size"))
                .isEqualTo(8L * rows.size());
        assertThat(TestingJson.at(json, "outputs", 1, "parameters", "binary_data_size"))
                .isEqualTo(24L * rows.size());
        ByteBuffer tensors = ByteBuffer.wrap(answer.bytes(), jsonLength, answer.bytes().length - jsonLength)
                .order(ByteOrder.LITTLE_ENDIAN);
        List<String> expectedLabels = new ArrayList<>();
        for (float[] score : scores) {
            int best = 0;
            for (int index = 1; index < 3; index++) {
                best = score[index] > score[best] ? index : best;
            }
            assertThat(tensors.getDouble()).isEqualTo(best);
            expectedLabels.add(multiclass.manifest().labels().get(best));
        }
        for (float[] score : scores) {
            for (float value : score) {
                assertThat(tensors.getDouble()).isEqualTo(value);
            }
        }
        for (String label : expectedLabels) {
            byte[] bytes = new byte[tensors.getInt()];
            tensors.get(bytes);
            assertThat(new String(bytes, StandardCharsets.UTF_8)).isEqualTo(label);
        }
        assertThat(tensors.hasRemaining()).isFalse();
    }

    @Test
    void aMatrixHoldsTheFeaturesInTheirOrder() throws IOException {
        String head = "{\"inputs\":[{\"name\":\"features\",\"shape\":[2,3],\"datatype\":";
        for (String input : List.of(
                "\"FP64\",\"data\":[1,2,1,0.5,4,0]}]}",
                "\"FP32\",\"data\":[[1,2,1],[0.5,4,0]]}]}",
                "\"FP64\",\"parameters\":{\"ignored\":[1]},\"data\":[[1.0,2.0,1.0],[5e-1,4E0,0]]}]}")) {
            assertThat(http.infer("sum", head + input).at("outputs", 0, "data")).isEqualTo(List.of(9.0, 8.5));
        }
        assertThat(http.infer("sum", head + "\"UINT8\",\"data\":[1,2,1,255,4,0]}]}")
                        .at("outputs", 0, "data"))
                .isEqualTo(List.of(9.0, 263.0));
    }

    @Test
    void fieldsMayComeInAnyOrder() throws IOException {
        assertThat(http.infer(
                                "sum",
                                "{\"outputs\":[],\"id\":\"7é\",\"inputs\":[{\"data\":[[1,2,1],[0.5,4,0]],\"datatype\":\"FP64\","
                                        + "\"other\":{\"a\":[{}]},\"shape\":[2,3],\"name\":\"é\"}],\"more\":[[]]}")
                        .text())
                .isEqualTo("{\"model_name\":\"sum\",\"model_version\":\"15\",\"id\":\"7é\",\"outputs\":[{\"name\":"
                        + "\"prediction\",\"datatype\":\"FP64\",\"shape\":[2],\"data\":[9.0,8.5]}]}");
    }

    @Test
    void columnsAreMatchedByNameAndMayBeOfAnyNumericType() throws IOException {
        assertThat(http.infer(
                                "sum",
                                "{\"inputs\":[{\"name\":\"c\",\"shape\":[2,1],\"datatype\":\"BOOL\",\"data\":[[true],[false]]},"
                                        + "{\"name\":\"extra\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"\",null]},"
                                        + "{\"name\":\"b\",\"shape\":[2],\"datatype\":\"INT16\",\"data\":[-300,7]},"
                                        + "{\"name\":\"a\",\"shape\":[2,1],\"datatype\":\"FP32\",\"data\":[0.1,1e3]}]}")
                        .at("outputs", 0, "data"))
                .isEqualTo(List.of((double) (0.1f + 2 * -300f + 4), 1014.0));
    }

    @Test
    void binaryTensorsOfEveryNumericType() throws IOException {
        for (Datatype datatype : Datatype.values()) {
            if (datatype == Datatype.BYTES) {
                continue;
            }
            ByteBuffer tensor = ByteBuffer.allocate(3 * datatype.length()).order(ByteOrder.LITTLE_ENDIAN);
            for (int value : datatype == Datatype.BOOL ? new int[] {1, 0, 1} : new int[] {3, 100, 1}) {
                switch (datatype) {
                    case FP32 -> tensor.putFloat(value);
                    case FP64 -> tensor.putDouble(value);
                    default -> {
                        for (int index = 0; index < datatype.length(); index++) {
                            tensor.put((byte) (index == 0 ? value : 0));
                        }
                    }
                }
            }
            double expected = datatype == Datatype.BOOL ? 5 : 207;
            assertThat(inferBinary("[1,3]", datatype, tensor.array()).at("outputs", 0, "data"))
                    .as(datatype.name())
                    .isEqualTo(List.of(expected));
        }
        byte[] negative = {(byte) 0xfe, (byte) 0xff, (byte) 0xff, (byte) 0xff, 0, 0, 0, 0, 0, 0, 0, 0};
        assertThat(inferBinary("[1,3]", Datatype.INT32, negative).at("outputs", 0, "data"))
                .isEqualTo(List.of(-2.0));
        assertThat(inferBinary("[1,3]", Datatype.UINT32, negative).at("outputs", 0, "data"))
                .isEqualTo(List.of((double) (float) 4294967294L));
    }

    private static TestingHttp.Answer inferBinary(String shape, Datatype datatype, byte[] tensor) throws IOException {
        String json = "{\"inputs\":[{\"name\":\"m\",\"shape\":" + shape + ",\"datatype\":\"" + datatype
                + "\",\"parameters\":{\"binary_data_size\":" + tensor.length + "}}]}";
        byte[] head = json.getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, head.length + tensor.length);
        System.arraycopy(tensor, 0, body, head.length, tensor.length);
        return http.send(http.request("/v2/models/sum/infer")
                .header("Inference-Header-Content-Length", Integer.toString(head.length))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    @Test
    void binaryTensorsThatDoNotFitAreRefused() throws IOException {
        assertError(
                inferBinary("[1,3]", Datatype.FP32, new byte[11]),
                400,
                "binary data must fit its shape: input=m, datatype=FP32, binary_data_size=11, expectedSize=12");
        assertError(
                inferBinary("[1]", Datatype.BYTES, new byte[] {9, 0, 0, 0, 1}),
                400,
                "binary text must end inside its data: input=m, index=0, binary_data_size=5");
        assertError(
                inferBinary("[1]", Datatype.BYTES, new byte[] {-1, -1, -1, -1, 1}),
                400,
                "binary text must end inside its data: input=m, index=0, binary_data_size=5");
        assertError(
                inferBinary("[1]", Datatype.BYTES, new byte[] {0, 0, 0, 0, 1}),
                400,
                "binary data must fit its shape: input=m, datatype=BYTES, binary_data_size=5, expectedSize=4");
        assertError(
                inferBinary("[1]", Datatype.UINT64, new byte[] {0, 0, 0, 0, 0, 0, 0, -128}),
                400,
                "input value must be a whole number: input=m, datatype=UINT64, index=0, min=0, max=9223372036854775807");
        String json = "{\"inputs\":[{\"name\":\"m\",\"shape\":[1],\"datatype\":\"FP32\","
                + "\"parameters\":{\"binary_data_size\":4}}]}";
        assertError(http.infer("sum", json), 400, "binary_data_size must be a whole number: min=0, max=0");
        assertError(
                http.send(http.request("/v2/models/sum/infer")
                        .header("Inference-Header-Content-Length", Integer.toString(json.length()))
                        .POST(HttpRequest.BodyPublishers.ofString(json + "12345"))),
                400,
                "binary data must be what the inputs say: binary_data_size=4, givenSize=5");
        for (String length : List.of("-1", "x", "99999", "9999999999")) {
            assertError(
                    http.send(http.request("/v2/models/sum/infer")
                            .header("Inference-Header-Content-Length", length)
                            .POST(HttpRequest.BodyPublishers.ofString("{}"))),
                    400,
                    "Inference-Header-Content-Length must be the length of the JSON in the body: value=" + length
                            + ", bodyLength=2");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            [] | request must be a JSON object
            {} | request must have inputs
            {"inputs":[]} | request must have inputs
            {"inputs":{}} | inputs must be an array
            {"inputs":[],"inputs":[]} | inputs must be given once
            {"inputs":[1]} | input must be a JSON object
            {"inputs":[{}]} | input must have a name, a shape and a datatype: input=
            {"inputs":[{"name":1}]} | input name must be a string
            {"inputs":[{"name":"x","datatype":"FP16"}]} | input datatype is not supported: input=x, datatype=FP16, supported=[BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64, BYTES]
            {"inputs":[{"name":"x","datatype":"FP64","shape":[]}]} | input shape must be [rows] or [rows, columns]: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1,1,1]}]} | input shape must be [rows] or [rows, columns]: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":["1"]}]} | input shape must be [rows] or [rows, columns]: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":[-1]}]} | dimension must be a whole number: min=0, max=2147483647
            {"inputs":[{"name":"x","datatype":"FP64","shape":[9999999999999999999]}]} | dimension must be a whole number: min=0, max=2147483647
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1]}]} | input must have data: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":[2000000000],"data":[]}]} | input shape must fit the request: input=x, shape=[2000000000], bytes=74
            {"inputs":[{"name":"x","datatype":"FP64","shape":[2000000000,2000000000],"data":[]}]} | input shape must fit the request: input=x, shape=[2000000000, 2000000000], bytes=85
            {"inputs":[{"name":"x","datatype":"FP64","shape":[0],"data":[]}]} | request must have rows: rowCount=0
            {"inputs":[{"name":"x","datatype":"FP64","shape":[0,99999999],"data":[]}]} | input shape must fit the request: input=x, shape=[0, 99999999], bytes=74
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":1}]} | input data must be an array: input=x, datatype=FP64
            {"inputs":[{"name":"x","datatype":"FP64","shape":[2],"data":[1]}]} | input data must fit its shape: input=x, datatype=FP64, values=2, givenValues=1
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1,2]}]} | input data must fit its shape: input=x, datatype=FP64, values=1, givenValues=more
            {"inputs":[{"name":"x","datatype":"FP64","shape":[2,1],"data":[[1]]}]} | input data must fit its shape: input=x, datatype=FP64, rows=2, givenRows=1
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1,1],"data":[[1],[2]]}]} | input data must fit its shape: input=x, datatype=FP64, rows=1, givenRows=more
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1,2],"data":[[1]]}]} | input data must fit its shape: input=x, datatype=FP64, row=0, values=2, givenValues=1
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[[1]]}]} | input value must be a number: input=x, datatype=FP64, index=0
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":["1"]}]} | input value must be a number: input=x, datatype=FP64, index=0
            {"inputs":[{"name":"x","datatype":"BOOL","shape":[2],"data":[true,1]}]} | input value must be true or false: input=x, datatype=BOOL, index=1
            {"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"data":[1]}]} | input value must be a string: input=x, datatype=BYTES, index=0
            {"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[128]}]} | input value must be a whole number: input=x, datatype=INT8, index=0, min=-128, max=127
            {"inputs":[{"name":"x","datatype":"UINT16","shape":[1],"data":[-1]}]} | input value must be a whole number: input=x, datatype=UINT16, index=0, min=0, max=65535
            {"inputs":[{"name":"x","datatype":"INT64","shape":[1],"data":[9223372036854775808]}]} | input value must be a whole number: input=x, datatype=INT64, index=0, min=-9223372036854775808, max=9223372036854775807
            {"inputs":[{"name":"x","datatype":"INT32","shape":[1],"data":[1.0]}]} | input value must be a whole number: input=x, datatype=INT32, index=0, min=-2147483648, max=2147483647
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1],"data":[1]}]} | input data must be given once: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1],"parameters":{"binary_data_size":0}}]} | input must have data or binary_data_size, not both: input=x
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"parameters":7}]} | parameters must be a JSON object
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1,2],"data":[1,2]},{"name":"y","datatype":"FP64","shape":[1],"data":[1]}]} | input must be the only one, or have the shape [rows] or [rows, 1]: input=x, columns=2
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]},{"name":"y","datatype":"FP64","shape":[2],"data":[1,2]}]} | inputs must have equally many rows: input=y, rows=2, firstInput=x, firstRows=1
            {"inputs":[{"name":"y","datatype":"FP64","shape":[1],"data":[1]}]} | feature column is missing: column=x, givenColumns=1
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]},{"name":"x","datatype":"FP64","shape":[1],"data":[1]}]} | feature column is given more than once: column=x
            {"inputs":[{"name":"m","datatype":"FP64","shape":[1,2],"data":[1,2]}]} | feature count is wrong: count=2, expectedCount=1
            {"inputs":[{"name":"x","datatype":"BYTES","shape":[2],"data":["y","z"]}]} | feature column has the wrong type: column=x, type=text, expectedType=float64, row=0
            {"outputs":{}} | outputs must be an array
            {"outputs":[{"name":"probability"}]} | output is unknown: output=probability, known=prediction, probabilities, label
            {"outputs":[{"name":"label","parameters":{"binary_data":1}}]} | binary_data must be true or false
            {"parameters":[]} | parameters must be a JSON object
            {"parameters":{"timeout_ms":0}} | timeout_ms must be a whole number: min=1, max=9223372036854775807
            {"parameters":{"on_error":"ignore"}} | on_error must be abort or null: on_error=ignore
            {"id":7} | id must be a string
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}],"outputs":[{"name":"label"},{"name":"label"}]} | output must be asked for once: output=label
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}],"outputs":[{"name":"label"}]} | request must fit the task of the model: kind=CLASS, task=REGRESSION, model=ECHO
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}],"outputs":[{"name":"prediction"},{"name":"probabilities"}]} | output must fit the task of the model: output=probabilities, task=regression, model=echo/14
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}],"parameters":{"timeout_ms":30001}} | timeout_ms must be a whole number: timeout_ms=30001, min=1, max=30000
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}]} x | request must be JSON: line=1, column=68
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1]}]}{} | request must end behind its JSON object
            {"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[01]}]} | request must be JSON: line=1, column=63
            {"inputs":[[[[[[[[[[[[[[[[[[[[[[ | input must be a JSON object
            {"a":[[[[[[[[[[[[[[[[[[[[[[[[[[ | request must be JSON
            """)
    void whatIsWrongIsSaid(String body, String message) throws IOException {
        assertError(http.infer("echo", body), 400, message.replace("ECHO", "model-" + madeUpKey(14)));
    }

    @Test
    void namesThatAreNotThereAreSaid() throws IOException {
        assertError(http.infer("nobody", "{}"), 404, "project does not exist: project=nobody");
        assertError(http.infer("untrained", "{}"), 404, "project has no deployed model: project=untrained");
        for (String version : List.of("7", "0", "x", "99999999999999999999", "-1")) {
            assertError(
                    http.get("/v2/models/echo/versions/" + version),
                    404,
                    "version must be a model of the project: project=echo, version=" + version);
        }
        for (String path : List.of("/", "/v1", "/v2/", "/v2/models", "/v2/models/a/b/c", "/v2/x")) {
            assertError(http.get(path), 404, "path is unknown: path=" + path);
        }
        assertError(
                http.get("/v2/models//infer"),
                400,
                "request cannot be read: status=400, reason=Ambiguous URI empty segment");
        assertError(http.get("/v2/models/%ff"), 400, "request cannot be read: status=400, reason=Bad UTF-8 encoding");
        TestingHttp.Answer answer = http.get("/v2/models/echo/infer");
        assertError(
                answer,
                405,
                "method must be one that the path has: method=GET, path=/v2/models/echo/infer, methods=POST");
        assertThat(answer.header("Allow")).isEqualTo("POST");
    }

    @Test
    void largeRequestsAreRefused() throws IOException {
        String large = " ".repeat(300_001);
        // Again and again: neither may the connection end before all is sent, nor the next request be sent into its
        // end.
        for (int time = 0; time < 20; time++) {
            assertError(
                    http.infer("echo", large),
                    413,
                    "request must not be larger than the limit: bytes=300001, limitBytes=300000");
        }
        // Without its length, as chunks.
        TestingHttp.Answer answer = http.send(http.request("/v2/models/echo/infer")
                .POST(HttpRequest.BodyPublishers.fromPublisher(HttpRequest.BodyPublishers.ofString(large))));
        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.text())
                .matches("\\{\"error\":\"request must not be larger than the limit: bytes=30[0-9]{4},"
                        + " limitBytes=300000\"}");
        String rows = "0" + ",0".repeat(5_000);
        assertError(
                http.infer("echo", x("[" + rows + "]", 5_001)),
                413,
                "request has too many rows: rows=5001, limitRows=5000");
    }

    @Test
    void aRowThatFailsFailsItsRequestOrIsNull() throws IOException {
        String inputs = "\"inputs\":[{\"name\":\"x\",\"shape\":[3],\"datatype\":\"FP64\",\"data\":[1,"
                + (int) TestingScorer.POISON + ",3]}]";
        String error = "scorer failed on a row: reason=java.lang.IllegalStateException: poison, row=1";
        assertError(http.infer("echo", "{" + inputs + "}"), 500, error);
        String wanted = "{\"parameters\":{\"on_error\":\"null\"}," + inputs + "}";
        assertThat(http.infer("echo", wanted).text())
                .isEqualTo("{\"model_name\":\"echo\",\"model_version\":\"14\",\"parameters\":{\"failed_rows\":1,"
                        + "\"first_error\":\"" + error
                        + "\"},\"outputs\":[{\"name\":\"prediction\",\"datatype\":\"FP64\","
                        + "\"shape\":[3],\"data\":[1.0,null,3.0]}]}");
        wanted = "{\"parameters\":{\"on_error\":\"null\",\"binary_data_output\":true}," + inputs + "}";
        TestingHttp.Answer answer = http.infer("echo", wanted);
        ByteBuffer tensor = ByteBuffer.wrap(answer.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        int jsonLength = Integer.parseInt(answer.header("Inference-Header-Content-Length"));
        assertThat(answer.bytes()).hasSize(jsonLength + 24);
        assertThat(tensor.getDouble(jsonLength)).isEqualTo(1);
        assertThat(tensor.getDouble(jsonLength + 8)).isNaN();
        assertThat(tensor.getDouble(jsonLength + 16)).isEqualTo(3);
    }

    @Test
    void valuesThatAreNotFinite() throws IOException {
        // The testing model has no answer for a missing value.
        String wanted = "{\"parameters\":{\"on_error\":\"null\"},"
                + x("[NaN,null,Infinity,-Infinity,1e999]", 5).substring(1);
        assertThat(http.infer("echo", wanted).at("outputs", 0, "data"))
                .isEqualTo(Arrays.asList(null, null, (double) 1e38f, (double) -1e38f, (double) 1e38f));
    }

    @Test
    void everyPrefixIsRefusedAndNoFlippedBitBreaksAnything() throws IOException {
        String body = "{\"id\":\"é\",\"parameters\":{\"timeout_ms\":900},\"inputs\":[{\"name\":\"a\",\"shape\":[1,1],"
                + "\"datatype\":\"FP64\",\"data\":[[1.5]]},{\"name\":\"b\",\"shape\":[1],\"datatype\":\"INT8\","
                + "\"data\":[2]},{\"name\":\"c\",\"shape\":[1],\"datatype\":\"BOOL\",\"data\":[true]}],"
                + "\"outputs\":[{\"name\":\"prediction\"}]}";
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        assertThat(http.infer("sum", body).at("outputs", 0, "data")).isEqualTo(List.of(9.5));
        for (int length = 0; length < bytes.length; length++) {
            TestingHttp.Answer answer = sendBytes(Arrays.copyOf(bytes, length));
            assertThat(answer.status()).as("length=" + length).isEqualTo(400);
            assertThat(answer.at("error")).isInstanceOf(String.class);
        }
        for (int bit = 0; bit < 8 * bytes.length; bit += 3) {
            byte[] flipped = bytes.clone();
            flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
            assertThat(sendBytes(flipped).status()).as("bit=" + bit).isIn(200, 400);
        }
        assertThat(http.infer("sum", body).at("outputs", 0, "data")).isEqualTo(List.of(9.5));
    }

    private static TestingHttp.Answer sendBytes(byte[] body) throws IOException {
        return http.send(http.request("/v2/models/sum/infer").POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    @Test
    void webPagesMayNotAsk() throws IOException {
        assertError(
                http.send(http.request("/v2").header("Origin", "https://example.com")),
                403,
                "web pages may not ask a gateway without a token");
    }

    @Test
    void aMatrixCannotHoldTextOrDates() throws IOException {
        String matrix = "{\"inputs\":[{\"name\":\"m\",\"shape\":[1,5],\"datatype\":\"FP64\",\"data\":[1,2,3,4,5]}]}";
        assertError(
                http.infer("regression", matrix),
                400,
                "number cannot stand for the feature: column=plan, position=3, type=text");
    }

    @Test
    void aColumnOfTheWrongTypeIsNamed() throws IOException {
        List<TestingRow> rows = binary.testRows().subList(0, 1);
        String body = TestingRows.columns(binary, rows, "[]")
                .replaceFirst(
                        "\"joined\",\"shape\":\\[1],\"datatype\":\"BYTES\",\"data\":\\[.*?]",
                        "\"joined\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1]");
        assertError(
                http.infer(NAME, body),
                400,
                "feature column has the wrong type: column=joined, type=int64, expectedType=date");
    }
}
