package io.millrace.gateway;

import io.millrace.contract.ContractException;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.model.Residents;
import io.millrace.region.Registry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The residents in a registry on disk. A document is {@code i64 bytes, i64 last use ms, JSON of the reference},
 * little-endian.
 */
final class RegistryResidents implements Residents, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RegistryResidents.class);
    private static final int HEADER_LENGTH = 2 * Long.BYTES;

    private final Registry registry;

    private RegistryResidents(Registry registry) {
        this.registry = registry;
    }

    /**
     * Opens the registry of a gateway, which its region names: of those that share a cache each has its own.
     *
     * @throws IOException if it cannot be made
     */
    static RegistryResidents open(Path cacheDirectory, Path regionDirectory) throws IOException {
        Files.createDirectories(cacheDirectory);
        CRC32C crc = new CRC32C();
        crc.update(regionDirectory.toAbsolutePath().normalize().toString().getBytes(StandardCharsets.UTF_8));
        return new RegistryResidents(
                Registry.open(cacheDirectory.resolve(String.format("registry-%08x.cm3", crc.getValue()))));
    }

    @Override
    public List<Resident> all() {
        List<Resident> residents = new ArrayList<>();
        registry.documents().forEach((key, document) -> {
            try {
                residents.add(decode(document));
            } catch (ContractException | IndexOutOfBoundsException e) {
                log.warn("registry entry is dropped: modelKey={}, reason={}", Long.toHexString(key), e.getMessage());
                registry.remove(key);
            }
        });
        return residents;
    }

    private static Resident decode(byte[] document) {
        ByteBuffer buffer = ByteBuffer.wrap(document).order(ByteOrder.LITTLE_ENDIAN);
        byte[] json = new byte[document.length - Math.min(HEADER_LENGTH, document.length)];
        buffer.get(HEADER_LENGTH, json);
        return new Resident(ModelReference.parse(json), buffer.getLong(0), buffer.getLong(Long.BYTES));
    }

    @Override
    public void put(Resident resident) {
        byte[] json = resident.reference().toJson();
        ByteBuffer document = ByteBuffer.allocate(HEADER_LENGTH + json.length).order(ByteOrder.LITTLE_ENDIAN);
        document.putLong(resident.bytes()).putLong(resident.usedMillis()).put(json);
        registry.put(resident.reference().modelKey(), document.array());
    }

    @Override
    public void remove(long modelKey) {
        registry.remove(modelKey);
    }

    @Override
    public void close() {
        registry.close();
    }
}
