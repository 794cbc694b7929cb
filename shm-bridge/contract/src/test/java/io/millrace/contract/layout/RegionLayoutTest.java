package io.millrace.contract.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Golden;
import io.millrace.contract.Survival;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

final class RegionLayoutTest {
    private static final long LINES_BYTES = 1 << 20;
    private static final long SLABS_BYTES = 513L * 135_168;

    private static RegionLayout layout(String linesName, long controlOffset, int slotCount) {
        List<RegionLayout.SlotOffsets> slots = new ArrayList<>();
        for (int slotIndex = 0; slotIndex < slotCount; slotIndex++) {
            slots.add(new RegionLayout.SlotOffsets(
                    4096 + slotIndex * 256L, 4096 + slotIndex * 135_168L, 4096 + slotIndex * 135_168L));
        }
        return new RegionLayout(
                7,
                4321,
                LINES_BYTES,
                SLABS_BYTES,
                SLABS_BYTES,
                controlOffset,
                512,
                2_000_000_000L,
                linesName,
                "req-7",
                "resp-7",
                "gateway.sock",
                slots);
    }

    private static RegionLayout layout() {
        return layout("lines-7", 256, SlotLayout.SLOT_COUNT);
    }

    /** A copy with another number somewhere and the checksum made right again. */
    private static byte[] edited(int offset, long value, int length) {
        ByteBuffer file = ByteBuffer.wrap(layout().encode()).order(ByteOrder.LITTLE_ENDIAN);
        if (length == Integer.BYTES) {
            file.putInt(offset, (int) value);
        } else {
            file.putLong(offset, value);
        }
        CRC32C crc = new CRC32C();
        crc.update(file.array(), 0, RegionLayout.CRC_OFFSET);
        file.putInt(RegionLayout.CRC_OFFSET, (int) crc.getValue());
        return file.array();
    }

    @Test
    void readsBackWhatItWrites() {
        byte[] bytes = layout().encode();
        assertThat(bytes).hasSize(RegionLayout.LENGTH).hasSize(12_644);
        assertThat(RegionLayout.decode(bytes)).isEqualTo(layout());
    }

    @Test
    void bytesAreWhereTheDiagramSays() {
        Golden.check("region-layout.hex", Golden.hex(layout().encode(), RegionLayout.ENTRIES_OFFSET + 48));
    }

    @Test
    void refusesEveryPrefixAndEveryFlippedBit() {
        byte[] valid = layout().encode();
        Survival.refusesEveryPrefix(valid, RegionLayout::decode);
        Survival.refusesEveryBitFlip(valid, RegionLayout::decode);
    }

    @Test
    void namesAnotherVersion() {
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.VERSION_OFFSET, 1, 4)))
                .isInstanceOf(ContractException.class)
                .hasMessage("layout version is unknown: version=1, expectedVersion=4")
                .extracting("code")
                .isEqualTo(ErrorCode.UNKNOWN_VERSION);
    }

    @Test
    void namesAWrongChecksum() {
        byte[] damaged = Survival.flipped(layout().encode(), RegionLayout.GENERATION_OFFSET * 8);
        assertThatThrownBy(() -> RegionLayout.decode(damaged))
                .hasMessageMatching("layout checksum is wrong: checksum=0x[0-9a-f]+, computed=0x[0-9a-f]+")
                .extracting("code")
                .isEqualTo(ErrorCode.CORRUPT_LAYOUT);
    }

    @Test
    void refusesOffsetsOutsideOfTheFiles() {
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.CONTROL_OFFSET_OFFSET, LINES_BYTES - 64, 8)))
                .hasMessage("layout control offset is out of bounds: offset=1048512, length=128, fileBytes=1048576");
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.ENTRIES_OFFSET, -128, 8)))
                .hasMessage("layout slot offset is out of bounds: offset=-128, length=128, fileBytes=1048576");
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.ENTRIES_OFFSET, 4097, 8)))
                .hasMessage("layout slot offset is out of bounds: offset=4097, length=128, fileBytes=1048576");
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.REQUEST_FILE_BYTES_OFFSET, 4096, 8)))
                .hasMessage("layout request offset is out of bounds: offset=4096, length=131072, fileBytes=4096");
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.LINES_FILE_BYTES_OFFSET, Long.MIN_VALUE, 8)))
                .isInstanceOf(ContractException.class);
    }

    @Test
    void refusesOtherCountsAndLengths() {
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.SLOT_COUNT_OFFSET, 513, 4)))
                .hasMessage("layout slot count is wrong: value=513, expected=512");
        assertThatThrownBy(() -> RegionLayout.decode(edited(RegionLayout.REQUEST_SLAB_LENGTH_OFFSET, 1, 4)))
                .hasMessage("layout request slab length is wrong: value=1, expected=131072");
        assertThatThrownBy(() -> layout("lines-7", 256, 511).encode())
                .hasMessage("layout slot count is wrong: value=511, expected=512");
    }

    @Test
    void refusesNamesThatArePathsOrTooLong() {
        for (String name : List.of("", "a/b", "x".repeat(64), "é".repeat(32))) {
            assertThatThrownBy(() -> layout(name, 256, SlotLayout.SLOT_COUNT).encode())
                    .as(name)
                    .isInstanceOf(ContractException.class)
                    .hasMessageStartingWith("layout name must be a plain file name: length=");
        }
        String longest = "x".repeat(63);
        assertThat(RegionLayout.decode(
                                layout(longest, 256, SlotLayout.SLOT_COUNT).encode())
                        .linesName())
                .isEqualTo(longest);
    }

    @Test
    void helloReadsBackAndSurvives() {
        DoorbellLayout hello = new DoorbellLayout(17, -3);
        Golden.check("hello.hex", Golden.hex(hello.encode(), DoorbellLayout.LENGTH));
        assertThat(DoorbellLayout.decode(hello.encode())).isEqualTo(hello);
        Survival.refusesEveryPrefix(hello.encode(), DoorbellLayout::decode);
        Survival.survivesEveryBitFlip(hello.encode(), DoorbellLayout::decode);
        assertThatThrownBy(() ->
                        DoorbellLayout.decode(Survival.flipped(hello.encode(), DoorbellLayout.VERSION_OFFSET * 8 + 1)))
                .hasMessage("layout version is unknown: version=6, expectedVersion=4");
    }

    @Test
    void theWidestRowFitsASlab() {
        int columns = RequestLayout.COLUMN_LIMIT;
        int descriptorLength = 2 + 3 * columns;
        int rowLength = (columns + 7) / 8 + Double.BYTES * columns;
        assertThat(RequestLayout.HEADER_LENGTH + descriptorLength + RequestLayout.MODEL_REFERENCE_LIMIT + rowLength)
                .isLessThanOrEqualTo(SlotLayout.SLAB_LENGTH);
    }
}
