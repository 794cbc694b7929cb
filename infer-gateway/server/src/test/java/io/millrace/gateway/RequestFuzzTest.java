package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.Column;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.RequestLayout;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingRow;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Damaged requests through the whole gateway: each one is answered, with an error that has a name, and costs nobody else anything. */
class RequestFuzzTest {
    private static final int REQUEST_COUNT = System.getenv("MILLRACE_TEST_FULL") == null ? 20_000 : 1_000_000;
    private static final RequestLimits LIMITS = new RequestLimits(RequestLimits.LIMIT_MAX, 0, 0, false);

    private final SplittableRandom random = new SplittableRandom(20_260_401);

    private static byte[] valid(
            ModelReference reference, List<Column> columns, List<TestingRow> rows, boolean withParts, boolean limited) {
        RowEncoder encoder = new RowEncoder(columns);
        rows.forEach(encoder::add);
        byte[] descriptor = DescriptorParser.encode(columns);
        byte[] request = TestingClient.request(
                rows.size(),
                DescriptorParser.hash(descriptor),
                withParts ? descriptor : new byte[0],
                withParts ? reference.toJson() : new byte[0],
                encoder.rows());
        ByteBuffer slab = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN);
        RequestEnvelope.encodeTenant(slab, 0, rows.size() > 1, 77, limited ? LIMITS.fingerprint() : 0);
        return request;
    }

    private byte[] damaged(byte[] valid) {
        byte[] bytes = valid.clone();
        switch (random.nextInt(6)) {
            case 0 -> flip(bytes, RequestLayout.HEADER_LENGTH);
            case 1 -> flip(bytes, bytes.length);
            case 2 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 64));
            case 3 -> {
                // A number of the header that means something else: a length, a count, a name.
                int offset = 4 * random.nextInt(RequestLayout.HEADER_LENGTH / 4);
                int[] values = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, bytes.length, random.nextInt()};
                ByteBuffer.wrap(bytes)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(offset, values[random.nextInt(values.length)]);
            }
            case 4 -> {
                int from = random.nextInt(bytes.length);
                int to = random.nextInt(bytes.length);
                System.arraycopy(valid, from, bytes, to, random.nextInt(bytes.length - Math.max(from, to)));
            }
            default -> random.nextBytes(bytes);
        }
        return bytes;
    }

    private void flip(byte[] bytes, int limit) {
        for (int count = 1 + random.nextInt(8); count > 0; count--) {
            bytes[random.nextInt(limit)] ^= (byte) (1 << random.nextInt(8));
        }
    }

    @Test
    void everyDamagedRequestIsAnsweredAndHarmsNoOther() throws Exception {
        try (TestingGateway testing = new TestingGateway(Map.of());
                TestingClient client = testing.client()) {
            TestingModels.TestingPackage model =
                    TestingModels.write(testing.freshDirectory(), 1, List.of("no", "yes"), 10);
            ModelReference plain = testing.publish(model, 1);
            ModelReference limited = new ModelReference(
                    plain.modelId(),
                    plain.project(),
                    plain.database(),
                    plain.uri(),
                    plain.sha256(),
                    plain.bytes(),
                    LIMITS);
            List<Column> columns = model.fitted().inputs().columns();
            List<byte[]> requests = new ArrayList<>();
            for (List<TestingRow> rows :
                    List.of(model.testRows().subList(0, 1), model.testRows().subList(0, 9))) {
                requests.add(valid(plain, columns, rows, true, false));
                requests.add(valid(plain, columns, rows, false, false));
                requests.add(valid(limited, columns, rows, true, true));
                requests.add(valid(limited, columns, rows, false, true));
            }
            for (byte[] request : requests) {
                assertThat(client.call(RequestKind.PREDICT, plain.modelKey(), request)
                                .status())
                        .isEqualTo(ErrorCode.OK);
            }
            RequestKind[] kinds = RequestKind.values();
            for (int index = 0; index < REQUEST_COUNT; index++) {
                byte[] request = damaged(requests.get(random.nextInt(requests.size())));
                RequestKind kind = kinds[random.nextInt(kinds.length)];
                long modelKey = random.nextInt(16) == 0 ? random.nextLong() : plain.modelKey();
                TestingClient.Answer answer = client.call(kind, modelKey, request);
                assertThat(answer.status())
                        .as("request %s of kind %s: %s", index, kind, answer.message())
                        .isNotEqualTo(ErrorCode.INTERNAL);
            }
            for (byte[] request : requests) {
                assertThat(client.call(RequestKind.PREDICT, plain.modelKey(), request)
                                .status())
                        .isEqualTo(ErrorCode.OK);
            }
        }
    }
}
