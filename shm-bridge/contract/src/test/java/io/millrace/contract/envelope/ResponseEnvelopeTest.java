package io.millrace.contract.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Golden;
import io.millrace.contract.Survival;
import io.millrace.contract.layout.ResponseLayout;
import io.millrace.contract.layout.ValueKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class ResponseEnvelopeTest {
    private static final int BASE = 24;
    private static final long MODEL_KEY = 0x0102_0304_0506_0708L;

    private static ByteBuffer slab() {
        return ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ResponseEncoder begin(ByteBuffer slab, ValueKind kind) {
        return new ResponseEncoder().begin(slab, BASE, slab.capacity() - BASE, kind, 3, MODEL_KEY, 9);
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Three rows, the second an error. */
    private static byte[] response(ValueKind kind) {
        ByteBuffer slab = slab();
        ResponseEncoder encoder = begin(slab, kind);
        row(encoder, kind, 0);
        encoder.error(ErrorCode.WRONG_TYPE, "feature column has the wrong type: column=é");
        row(encoder, kind, 1);
        byte[] bytes = new byte[encoder.length()];
        slab.get(BASE, bytes);
        return bytes;
    }

    private static void row(ResponseEncoder encoder, ValueKind kind, int index) {
        double[] doubles = {-1, 0.25, 0.75};
        switch (kind) {
            case SCALAR -> encoder.scalar(doubles[index + 1]);
            case VECTOR -> encoder.vector(doubles, 1, 2 - index);
            case VECTOR32 -> encoder.vector32(new float[] {1f, 2f, Float.NaN}, 1, 2);
            case TEXT -> encoder.text(index == 0 ? "sì" : "");
            case BYTES -> encoder.bytes(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), 1, 3);
            case FULL -> encoder.full(0.75, "yes".getBytes(StandardCharsets.UTF_8), doubles, 1, 2);
        }
    }

    private static void readAll(byte[] bytes) {
        ResponseEnvelope response = new ResponseEnvelope().wrap(little(bytes), 0, bytes.length);
        while (response.next()) {
            if (response.rowStatus() != ErrorCode.OK) {
                response.text();
                continue;
            }
            switch (response.kind()) {
                case SCALAR -> response.scalar();
                case VECTOR, VECTOR32 -> response.vector();
                case TEXT -> response.text();
                case BYTES -> response.bytes();
                case FULL -> {
                    response.scalar();
                    response.text();
                    response.vector();
                }
            }
        }
    }

    @Test
    void readsBackWhatItWrites() {
        byte[] bytes = response(ValueKind.FULL);
        ResponseEnvelope response = new ResponseEnvelope().wrap(little(bytes), 0, bytes.length);
        assertThat(response.kind()).isEqualTo(ValueKind.FULL);
        assertThat(response.rowCount()).isEqualTo(3);
        assertThat(response.modelKey()).isEqualTo(MODEL_KEY);
        assertThat(response.modelId()).isEqualTo(9);
        assertThat(response.next()).isTrue();
        assertThat(response.rowStatus()).isEqualTo(ErrorCode.OK);
        assertThat(response.scalar()).isEqualTo(0.75);
        assertThat(response.text()).isEqualTo("yes");
        assertThat(response.vector()).containsExactly(0.25, 0.75);
        assertThat(response.next()).isTrue();
        assertThat(response.rowStatus()).isEqualTo(ErrorCode.WRONG_TYPE);
        assertThat(response.text()).isEqualTo("feature column has the wrong type: column=é");
        assertThat(response.next()).isTrue();
        assertThat(response.rowStatus()).isEqualTo(ErrorCode.OK);
        assertThat(response.next()).isFalse();
    }

    @Test
    void everyKindReadsBack() {
        for (ValueKind kind : ValueKind.values()) {
            byte[] bytes = response(kind);
            ResponseEnvelope response = new ResponseEnvelope().wrap(little(bytes), 0, bytes.length);
            assertThat(response.next()).isTrue();
            switch (kind) {
                case SCALAR -> assertThat(response.scalar()).isEqualTo(0.25);
                case VECTOR -> assertThat(response.vector()).containsExactly(0.25, 0.75);
                case VECTOR32 -> assertThat(response.vector()).containsExactly(2.0, Double.NaN);
                case TEXT -> assertThat(response.text()).isEqualTo("sì");
                case BYTES -> assertThat(response.bytes()).containsExactly(2, 3, 4);
                case FULL -> assertThat(response.scalar()).isEqualTo(0.75);
            }
        }
    }

    @Test
    void bytesAreWhereTheDiagramSays() {
        StringBuilder text = new StringBuilder();
        for (ValueKind kind : ValueKind.values()) {
            byte[] bytes = response(kind);
            text.append(kind).append('\n').append(Golden.hex(bytes, bytes.length));
        }
        Golden.check("response.hex", text.toString());
    }

    @Test
    void survivesDamage() {
        for (ValueKind kind : ValueKind.values()) {
            Survival.refusesEveryPrefix(response(kind), ResponseEnvelopeTest::readAll);
            Survival.survivesEveryBitFlip(response(kind), ResponseEnvelopeTest::readAll);
        }
    }

    @Test
    void saysWhenTheRoomIsUsedUp() {
        ByteBuffer slab = slab();
        byte[] large = new byte[1000];
        ResponseEncoder encoder =
                new ResponseEncoder().begin(slab, 0, ResponseLayout.HEADER_LENGTH + 12, ValueKind.SCALAR, 2, 0, 0);
        encoder.scalar(1);
        assertThatThrownBy(() -> encoder.scalar(2))
                .isInstanceOf(ContractException.class)
                .hasMessage("response does not fit: length=48, limitLength=36")
                .extracting("code")
                .isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThatThrownBy(() -> begin(slab, ValueKind.BYTES).bytes(large))
                .hasMessage("response does not fit: length=1032, limitLength=1000");
        assertThatThrownBy(() -> begin(slab, ValueKind.VECTOR).vector(new double[1000], 0, 1000))
                .isInstanceOf(ContractException.class);
        assertThatThrownBy(() -> begin(slab, ValueKind.VECTOR32).vector32(new float[1000], 0, 1000))
                .isInstanceOf(ContractException.class);
        assertThatThrownBy(() -> new ResponseEncoder().begin(slab, 0, 23, ValueKind.SCALAR, 0, 0, 0))
                .isInstanceOf(ContractException.class);
    }

    @Test
    void failureReadsBackAndSurvives() {
        ByteBuffer slab = slab();
        int length = new ResponseEncoder().failure(slab, 0, 1024, "queue is full: rows=1", "wait a little");
        byte[] valid = new byte[length];
        slab.get(0, valid);
        assertThat(ResponseEnvelope.failure(little(valid), 0, length))
                .isEqualTo(new ResponseEnvelope.Failure("queue is full: rows=1", "wait a little"));
        Survival.refusesEveryPrefix(valid, bytes -> ResponseEnvelope.failure(little(bytes), 0, bytes.length));
        Survival.survivesEveryBitFlip(valid, bytes -> ResponseEnvelope.failure(little(bytes), 0, bytes.length));
    }

    @Test
    void aLongMessageIsCutBetweenCodePoints() {
        ByteBuffer slab = ByteBuffer.allocate(16_384).order(ByteOrder.LITTLE_ENDIAN);
        String message = "x" + "\uD83D\uDE00".repeat(2000);
        int length = new ResponseEncoder().failure(slab, 0, slab.capacity(), message, "");
        String cut = ResponseEnvelope.failure(slab, 0, length).message();
        assertThat(cut).isEqualTo("x" + "\uD83D\uDE00".repeat(1023));
    }
}
