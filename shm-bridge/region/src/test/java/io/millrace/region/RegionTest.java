package io.millrace.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.contract.layout.RegionLayout;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RegionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private TestingDirectory directory;
    private Region region;

    @BeforeEach
    void create() throws IOException {
        directory = TestingDirectory.create();
        region = Region.create(RegionConfig.of(directory.path()));
    }

    @AfterEach
    void close() throws IOException {
        region.close();
        directory.close();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void isInvisibleUntilServedAndGoneWhenClosed() throws IOException {
        assertThat(directory.path().resolve(RegionLayout.FILE_NAME)).doesNotExist();
        region.serve();
        assertThat(names(directory.path())).hasSize(7).contains("layout.bin", "gateway.sock", "gateway.lock");
        region.close();
        assertThat(names(directory.path())).containsExactly("gateway.lock");
    }

    @Test
    void permissionsLetTheGroupInAndNobodyElse() throws IOException {
        region.serve();
        RegionLayout layout = region.layout();
        Path path = directory.path();
        assertThat((int) Files.getAttribute(path, "unix:mode") & 07777).isEqualTo(02750);
        Path payloads = path.resolve(PayloadLayout.directoryName(layout.generation()));
        assertThat((int) Files.getAttribute(payloads, "unix:mode") & 07777).isEqualTo(02770);
        assertThat(mode(path.resolve(layout.linesName()))).isEqualTo("rw-rw----");
        assertThat(mode(path.resolve(layout.requestName()))).isEqualTo("rw-rw----");
        assertThat(mode(path.resolve(layout.responseName()))).isEqualTo("rw-r-----");
        assertThat(mode(path.resolve(layout.socketName()))).isEqualTo("rw-rw----");
        assertThat(mode(path.resolve(RegionLayout.FILE_NAME))).isEqualTo("rw-r-----");
    }

    @Test
    void refusesAGroupThatDoesNotExist() {
        RegionConfig config = new RegionConfig(
                directory.path().resolve("other"), Optional.of("no-such-group"), Duration.ofSeconds(1), false);
        assertThatThrownBy(() -> Region.create(config)).hasMessage("region group is unknown: group=no-such-group");
    }

    @Test
    void refusesASecondGateway() {
        assertThatThrownBy(() -> Region.create(RegionConfig.of(directory.path())))
                .hasMessage("region directory is in use by another gateway: directory=" + directory.path() + ", pid="
                        + ProcessHandle.current().pid());
    }

    @Test
    void removesWhatADeadGatewayLeft() throws IOException {
        region.close();
        // All that a gateway makes, in its order: it may have died after each.
        for (String name :
                List.of("lines-1.cm3", "req-1.cm3", "resp-1.cm3", "gateway.sock", "layout.bin.tmp", "layout.bin")) {
            Files.writeString(directory.path().resolve(name), "dead");
            Path payloads = Files.createDirectories(directory.path().resolve("payload-1"));
            Files.writeString(payloads.resolve("req-7-0000000100001000"), "dead");
            RegionFiles.acquire(directory.path(), Optional.empty()).close();
            assertThat(names(directory.path())).as(name).containsExactly("gateway.lock");
        }
        region = Region.create(RegionConfig.of(directory.path()));
    }

    @Test
    void linesAreAlignedAndDisjoint() {
        List<Long> lines = new ArrayList<>(region.layout().slots().stream()
                .map(RegionLayout.SlotOffsets::slot)
                .toList());
        lines.add(region.layout().controlOffset());
        lines.add(region.layout().readyOffset());
        lines.sort(null);
        for (int i = 0; i < lines.size(); i++) {
            assertThat(lines.get(i) % SlotLayout.LENGTH).isZero();
            assertThat(i == 0 || lines.get(i) - lines.get(i - 1) >= SlotLayout.LENGTH)
                    .isTrue();
        }
    }

    @Test
    void sparseSlabsCostNoMemory() throws Exception {
        region.close();
        region = Region.create(new RegionConfig(directory.path(), Optional.empty(), Duration.ofSeconds(5), true));
        Path slabs = directory.path().resolve(region.layout().requestName());
        assertThat(residentKibibytes(slabs)).isLessThan(Files.size(slabs) / 1024 / 10);
    }

    private static long residentKibibytes(Path file) throws Exception {
        Process du = new ProcessBuilder("du", "-Lk", file.toString()).start();
        String output = new String(du.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(du.waitFor()).isZero();
        return Long.parseLong(output.split("\t", 2)[0]);
    }

    @Test
    void aClosedGenerationCostsNoMemoryWhileItIsMapped() throws Exception {
        region.serve();
        Path requests = directory.path().resolve(region.layout().requestName());
        Path responses = directory.path().resolve(region.layout().responseName());
        try (FileChannel requestChannel = FileChannel.open(requests);
                FileChannel responseChannel = FileChannel.open(responses)) {
            MappedByteBuffer requestMap = requestChannel.map(FileChannel.MapMode.READ_ONLY, 0, requestChannel.size());
            MappedByteBuffer responseMap =
                    responseChannel.map(FileChannel.MapMode.READ_ONLY, 0, responseChannel.size());
            // Other names of the same files: what becomes of them shows after the region has removed its own.
            Path requestLink = Files.createLink(directory.path().resolve("kept-requests"), requests);
            Path responseLink = Files.createLink(directory.path().resolve("kept-responses"), responses);
            assertThat(residentKibibytes(requestLink)).isGreaterThan(60_000);
            region.close();
            assertThat(residentKibibytes(requestLink)).isLessThan(8_000);
            assertThat(residentKibibytes(responseLink)).isLessThan(8_000);
            for (RegionLayout.SlotOffsets slot : region.layout().slots()) {
                assertThat(requestMap.get((int) slot.request())).isZero();
                assertThat(responseMap.get((int) slot.response())).isZero();
            }
        }
    }

    @Test
    void aDeadGenerationCostsNoMemoryButAnAnswerThatMayBeReadStays() throws Exception {
        TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
        region.serve();
        RegionLayout old = region.layout();
        Path responses = directory.path().resolve(old.responseName());
        try (TestingBackend backend = TestingBackend.attach(directory.path())) {
            int done = backend.claim();
            backend.submit(done, RequestKind.ECHO.code(), 0, new byte[] {7, 8, 9}, TIMEOUT);
            backend.awaitDone(done, TIMEOUT);
            dispatcher.close();
            Path link = Files.createLink(directory.path().resolve("kept-responses"), responses);
            DeadSlabs.free(directory.path());
            assertThat(residentKibibytes(link)).isLessThan(8_000);
            try (FileChannel channel = FileChannel.open(link)) {
                ByteBuffer answer = ByteBuffer.allocate(3);
                channel.read(answer, old.slots().get(done).response());
                assertThat(answer.array()).containsExactly(7, 8, 9);
            }
        }
    }

    @Test
    void aLayoutThatCannotBeReadFreesNothingAndHarmsNothing() throws IOException {
        Files.writeString(directory.path().resolve(RegionLayout.FILE_NAME), "dead");
        DeadSlabs.free(directory.path());
        region.close();
        assertThat(names(directory.path())).containsExactly("gateway.lock");
    }

    @Test
    @Timeout(60)
    void aSleeperLooksAgainWithoutARing() throws IOException {
        region.serve();
        // Nobody connects or rings: each call must return by itself.
        for (int sleep = 0; sleep < 3; sleep++) {
            region.doorbell().await();
            assertThat(region.doorbell().isAsleep()).isFalse();
        }
    }

    @Test
    void backendSeesTheControlLine() throws IOException {
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0)) {
            region.serve();
            try (TestingBackend backend = TestingBackend.attach(directory.path())) {
                assertThat(backend.layoutVersion()).isEqualTo(ControlLayout.VERSION);
                assertThat(backend.gatewayState()).isEqualTo(ControlLayout.SERVING);
                long before = backend.heartbeatNanos();
                region.beat();
                assertThat(backend.heartbeatNanos()).isGreaterThan(before);
                region.drain();
                assertThat(backend.gatewayState()).isEqualTo(ControlLayout.DRAINING);
            }
            assertThat(dispatcher).isNotNull();
        }
    }

    @Test
    void answersEveryPayloadLength() throws IOException {
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0)) {
            region.serve();
            try (TestingBackend backend = TestingBackend.attach(directory.path())) {
                Random random = new Random(42);
                for (int length : new int[] {
                    0,
                    1,
                    7,
                    4096,
                    SlotLayout.SLAB_LENGTH - 1,
                    SlotLayout.SLAB_LENGTH,
                    SlotLayout.SLAB_LENGTH + 1,
                    1 << 24
                }) {
                    byte[] request = new byte[length];
                    random.nextBytes(request);
                    TestingBackend.Answer answer = backend.call(RequestKind.ECHO, 0, request, TIMEOUT);
                    assertThat(answer.status()).isZero();
                    assertThat(answer.response()).isEqualTo(request);
                    assertThat(region.payloads().count()).isZero();
                }
            }
            assertThat(dispatcher).isNotNull();
        }
        region.slots().census().validate();
        assertThat(region.slots().census().usedCount()).isZero();
    }

    @Test
    void aPayloadOfAnotherLengthOrKindIsRefusedAndRemoved() throws IOException {
        region.serve();
        PayloadFiles payloads = region.payloads();
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
                TestingBackend backend = TestingBackend.attach(directory.path())) {
            int slotIndex = backend.claim();
            long word = backend.stateWord(slotIndex);
            assertThatThrownBy(() -> payloads.openRequest(slotIndex, word, 9)).isInstanceOf(NoSuchFileException.class);
            backend.writePayload(slotIndex, new byte[10]);
            assertThatThrownBy(() -> payloads.openRequest(slotIndex, word, 9))
                    .hasMessage("payload must have the length its slot says: fileLength=10, length=9");
            Path secret = Files.write(directory.path().resolve("secret"), new byte[9]);
            Files.createSymbolicLink(backend.requestPayload(slotIndex), secret);
            assertThatThrownBy(() -> payloads.openRequest(slotIndex, word, 9)).isInstanceOf(IOException.class);
            assertThat(secret).exists();
            assertThat(payloads.count()).isZero();
            payloads.writeResponse(slotIndex, word, ByteBuffer.allocate(5));
            assertThatThrownBy(() -> payloads.writeResponse(slotIndex, word, ByteBuffer.allocate(5)))
                    .isInstanceOf(FileAlreadyExistsException.class);
            backend.cancel(slotIndex);
            assertThat(dispatcher).isNotNull();
        }
    }

    @Test
    void payloadsAreSweptWhenTheirUseOfTheSlotHasEnded() throws IOException {
        region.serve();
        PayloadFiles payloads = region.payloads();
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
                TestingBackend backend = TestingBackend.attach(directory.path())) {
            int slotIndex = backend.claim();
            long word = backend.stateWord(slotIndex);
            backend.writePayload(slotIndex, new byte[10]);
            payloads.writeResponse(slotIndex, word, ByteBuffer.allocate(5));
            Path stray = Files.createFile(backend.requestPayload(slotIndex).resolveSibling("req-999-0000000000000000"));
            assertThat(payloads.sweep()).isEqualTo(1);
            assertThat(stray).doesNotExist();
            assertThat(payloads.count()).isEqualTo(2);
            // Once its owner gave up nobody reads them, whoever uses the slot next.
            backend.cancel(slotIndex);
            assertThat(backend.claim()).isEqualTo(slotIndex);
            region.sweeper().sweep();
            assertThat(payloads.count()).isZero();
            backend.cancel(slotIndex);
            assertThat(dispatcher).isNotNull();
        }
    }

    @Test
    void manyBackendsNeverCrossAnswersAndNeverMissAWakeUp() throws Exception {
        int backendCount = 8;
        ExecutorService executor = Executors.newFixedThreadPool(backendCount);
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0)) {
            region.serve();
            List<Future<Integer>> results = new ArrayList<>();
            for (int b = 0; b < backendCount; b++) {
                int seed = b;
                results.add(executor.submit(() -> echoMany(seed)));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get()).isEqualTo(2000);
            }
            assertThat(region.slots().census().count(SlotState.FREE)).isEqualTo(SlotLayout.SLOT_COUNT);
            await().atMost(TIMEOUT).until(() -> region.doorbell().connectionCount() == 0);
            assertThat(dispatcher).isNotNull();
        } finally {
            executor.shutdownNow();
        }
        region.slots().census().validate();
    }

    private int echoMany(int seed) throws IOException {
        Random random = new Random(seed);
        int right = 0;
        try (TestingBackend backend = TestingBackend.attach(directory.path())) {
            for (int i = 0; i < 2000; i++) {
                byte[] request = new byte[random.nextInt(200)];
                random.nextBytes(request);
                byte[] response =
                        backend.call(RequestKind.ECHO, seed, request, TIMEOUT).response();
                right += Arrays.equals(request, response) ? 1 : 0;
            }
        }
        return right;
    }

    @Test
    void aSleeperAtItsLineIsWoken() throws IOException {
        TestingDispatcher dispatcher = new TestingDispatcher(region, 1);
        region.serve();
        try (dispatcher;
                TestingBackend backend = TestingBackend.attach(directory.path())) {
            int slotIndex = backend.claim();
            for (int i = 0; i < 100; i++) {
                backend.submit(slotIndex, RequestKind.ECHO.code(), 0, new byte[] {(byte) i}, TIMEOUT);
                backend.awaitDoneAtLine(slotIndex, TIMEOUT);
                assertThat(backend.response(slotIndex)).containsExactly(i);
                backend.free(slotIndex);
                slotIndex = backend.claim();
            }
        }
    }

    @Test
    void endOfAConnectionFreesItsSlotsInEveryState() throws IOException {
        TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
        region.serve();
        TestingBackend backend = TestingBackend.attach(directory.path());
        int done = backend.claim();
        backend.submit(done, RequestKind.ECHO.code(), 0, new byte[3], TIMEOUT);
        backend.awaitDone(done, TIMEOUT);
        dispatcher.close();
        int submitted = backend.claim();
        backend.submit(submitted, RequestKind.ECHO.code(), 0, new byte[3], TIMEOUT);
        int running = backend.claim();
        backend.submit(running, RequestKind.ECHO.code(), 0, new byte[3], TIMEOUT);
        long runningWord = SlotLayout.withState(backend.stateWord(running), SlotState.RUNNING);
        assertThat(region.slots().take(running, backend.stateWord(running))).isTrue();
        backend.close();

        await().atMost(TIMEOUT).until(() -> {
            region.doorbell().poll();
            return region.doorbell().connectionCount() == 0;
        });
        SlotCensus census = region.slots().census();
        assertThat(census.count(SlotState.FREE)).isEqualTo(SlotLayout.SLOT_COUNT - 1);
        assertThat(census.count(SlotState.ABANDONED)).isEqualTo(1);
        assertThat(region.slots().isWanted(running, runningWord)).isFalse();
        assertThat(region.slots().finish(running, runningWord, 0, 0, 1)).isFalse();
        assertThat(region.slots().census().count(SlotState.FREE)).isEqualTo(SlotLayout.SLOT_COUNT);
    }

    @Test
    void aLateAnswerDoesNotReachTheNextUseOfTheSlot() throws IOException {
        try (TestingDispatcher dispatcher = new TestingDispatcher(region, 0)) {
            region.serve();
            try (TestingBackend backend = TestingBackend.attach(directory.path())) {
                int slotIndex = backend.claim();
                long lateWord = SlotLayout.withState(backend.stateWord(slotIndex), SlotState.RUNNING);
                backend.cancel(slotIndex);
                assertThat(backend.claim()).isEqualTo(slotIndex);
                long newWord = backend.stateWord(slotIndex);
                assertThat(region.slots().finish(slotIndex, lateWord, 9, 9, 1)).isFalse();
                assertThat(backend.stateWord(slotIndex)).isEqualTo(newWord);
                backend.cancel(slotIndex);
            }
            assertThat(dispatcher).isNotNull();
        }
    }

    @Test
    void closingTellsBackendsAtOnce() throws IOException {
        TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
        region.serve();
        try (TestingBackend backend = TestingBackend.attach(directory.path())) {
            dispatcher.close();
            region.close();
            assertThat(backend.gatewayState()).isEqualTo(ControlLayout.CLOSED);
            assertThat(backend.connectionEnded()).isTrue();
        }
    }

    @Test
    void sweeperFreesWhatNoConnectionTells() throws IOException {
        ConcurrentHashMap<Integer, Long> processes = new ConcurrentHashMap<>();
        region.close();
        region = Region.create(RegionConfig.of(directory.path()), pid -> processes.getOrDefault(pid, OwnerProbe.GONE));
        TestingDispatcher dispatcher = new TestingDispatcher(region, 0);
        region.serve();
        try (TestingBackend backend = TestingBackend.attach(directory.path(), 101)) {
            dispatcher.close();
            int claimedByDead = backend.claim();
            int claimedByLiving = 300;
            int reusedPid = 301;
            backend.forceStateWord(claimedByLiving, SlotLayout.stateWord(1, 102, SlotState.CLAIMED));
            backend.forceStateWord(reusedPid, SlotLayout.stateWord(1, 103, SlotState.SUBMITTED));
            backend.ownerStart(reusedPid, 5000);
            processes.put(102, 77L);
            processes.put(103, 9999L);

            assertThat(region.sweeper().sweep())
                    .as("a word seen once may be a moment old")
                    .isZero();
            assertThat(region.sweeper().sweep()).isEqualTo(2);
            assertThat(backend.state(claimedByDead)).isEqualTo(SlotState.FREE);
            assertThat(backend.state(reusedPid)).isEqualTo(SlotState.FREE);
            assertThat(backend.state(claimedByLiving)).isEqualTo(SlotState.CLAIMED);
            assertThat(region.sweeper().sweep()).isZero();
            assertThat(region.sweeper().reclaimedCount()).isEqualTo(2);
        }
    }

    @Test
    void processTableKnowsLivingAndDead() throws Exception {
        int self = (int) ProcessHandle.current().pid();
        assertThat(OwnerProbe.PROCESS_TABLE.startTicks(self)).isPositive();
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        assertThat(OwnerProbe.PROCESS_TABLE.startTicks((int) process.pid())).isEqualTo(OwnerProbe.GONE);
    }
}
