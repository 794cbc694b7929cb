package io.millrace.gateway;

import io.millrace.contract.ContractException;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import io.millrace.contract.fitted.FittedPreprocessing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/*
 * Two families. Most packages are damaged after they were published, so a digest no longer fits: the store must see that,
 * whatever the file. The others were published broken, every digest right, so what reads the file must see it. That is done
 * to what we read ourselves: manifest, preprocessing, signature, and XGBoost's UBJSON, which is checked before anything
 * native sees it. Not to an ONNX graph: its parser is native, and a graph gets its digest only after it was loaded and tried
 * in a process of its own, where OnnxDamageTest damages it.
 */
/** Model packages with something wrong. Threads: one. */
final class TestingDamage {
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?([eE][-+]?\\d+)?(?![^\"]*\"[:,}\\]])");
    private static final List<String> ABSURD = List.of(
            "0",
            "-1",
            "1",
            "2147483647",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "1e308",
            "1e999",
            "NaN",
            "0.5",
            "null",
            "\"1\"",
            "[]",
            "{}",
            "true");

    private final SplittableRandom random;

    TestingDamage(long seed) {
        random = new SplittableRandom(seed);
    }

    /**
     * What is in the store.
     *
     * @param files by name, the manifest among them
     * @param manifestSha256 that the database has
     * @param published whether it was broken before it was published, so that every digest fits; else it cannot load
     * @param what for messages
     */
    record Damaged(Map<String, byte[]> files, String manifestSha256, boolean published, String what) {}

    /**
     * A package with something wrong.
     *
     * @param good files of a sound package
     * @param other files of another, from which parts may come
     * @param readable names of the files that may be broken with the right digests
     */
    Damaged damage(Map<String, byte[]> good, Map<String, byte[]> other, List<String> readable) {
        if (random.nextInt(5) < 4) {
            return altered(good, other);
        }
        String sound = Sha256.hex(file(good, ModelManifest.FILE_NAME));
        Damaged damaged = brokenBefore(good, other, readable);
        while (damaged.manifestSha256().equals(sound)) {
            damaged = brokenBefore(good, other, readable);
        }
        return damaged;
    }

    private Damaged altered(Map<String, byte[]> good, Map<String, byte[]> other) {
        Map<String, byte[]> files = new LinkedHashMap<>(good);
        String sha256 = Sha256.hex(file(good, ModelManifest.FILE_NAME));
        String name = pick(new ArrayList<>(good.keySet()));
        byte[] bytes = file(good, name);
        String what = switch (random.nextInt(6)) {
            case 0 -> {
                files.put(name, Arrays.copyOf(bytes, random.nextInt(bytes.length)));
                yield "truncated " + name;
            }
            case 1 -> {
                files.put(name, flipped(bytes));
                yield "altered " + name;
            }
            case 2 -> {
                files.remove(name);
                yield "missing " + name;
            }
            case 3 -> {
                files.put(pick(List.of("plugin.so", "-", "model.pkl", name + "~")), bytes);
                yield "one file more than " + name;
            }
            case 4 -> {
                files.put(name, Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(100_000)));
                yield "longer " + name;
            }
            default -> {
                String from = pick(new ArrayList<>(other.keySet()));
                byte[] foreign = file(other, from);
                files.put(name, Arrays.equals(foreign, bytes) ? flipped(bytes) : foreign);
                yield name + " swapped for another's " + from;
            }
        };
        return new Damaged(files, sha256, false, what);
    }

    private Damaged brokenBefore(Map<String, byte[]> good, Map<String, byte[]> other, List<String> readable) {
        Map<String, byte[]> files = new LinkedHashMap<>(good);
        ModelManifest manifest = ModelManifest.parse(file(good, ModelManifest.FILE_NAME));
        String what;
        if (random.nextInt(3) == 0) {
            files.put(ModelManifest.FILE_NAME, brokenText(file(good, ModelManifest.FILE_NAME)));
            what = "published with a broken manifest";
        } else {
            String name = pick(readable);
            byte[] foreign = other.get(name);
            boolean swaps = foreign != null && random.nextInt(8) == 0;
            files.put(
                    name,
                    swaps ? foreign : name.endsWith(".json") ? brokenText(file(good, name)) : broken(file(good, name)));
            files.put(ModelManifest.FILE_NAME, manifestOf(manifest, files).toJson());
            what = "published with " + (swaps ? "another's " : "a broken ") + name;
        }
        return new Damaged(files, Sha256.hex(file(files, ModelManifest.FILE_NAME)), true, what);
    }

    /** The manifest that a careless publisher would write for these files: digests always, the schema sometimes. */
    private ModelManifest manifestOf(ModelManifest like, Map<String, byte[]> files) {
        List<ModelManifest.FileEntry> entries = new ArrayList<>();
        for (ModelManifest.FileEntry entry : like.files()) {
            byte[] bytes = file(files, entry.name());
            entries.add(new ModelManifest.FileEntry(entry.name(), bytes.length, Sha256.hex(bytes)));
        }
        byte[] document = file(files, ModelManifest.FITTED_FILE_NAME);
        long fingerprint = like.schemaFingerprint();
        int width = like.width();
        List<String> labels = like.labels();
        try {
            FittedPreprocessing fitted = FittedPreprocessing.parse(document);
            if (random.nextBoolean()) {
                fingerprint = fitted.inputs().fingerprint();
                width = fitted.width();
                labels = fitted.target().labels();
            }
        } catch (ContractException unreadable) {
            // Then the schema stays what it was.
        }
        return new ModelManifest(
                like.formatVersion(),
                like.database(),
                like.projectId(),
                like.project(),
                like.runId(),
                like.algorithm(),
                like.task(),
                like.objective(),
                like.format(),
                entries,
                Sha256.hex(document),
                fingerprint,
                width,
                labels,
                like.metrics(),
                like.createdAt());
    }

    /** JSON with a number that makes no sense, or as {@link #broken}. */
    private byte[] brokenText(byte[] json) {
        if (random.nextInt(3) != 0) {
            return broken(json);
        }
        String text = new String(json, StandardCharsets.UTF_8);
        List<MatchResult> numbers = NUMBER.matcher(text).results().toList();
        if (numbers.isEmpty()) {
            return broken(json);
        }
        MatchResult number = pick(numbers);
        return (text.substring(0, number.start()) + pick(ABSURD) + text.substring(number.end()))
                .getBytes(StandardCharsets.UTF_8);
    }

    private byte[] broken(byte[] bytes) {
        return switch (random.nextInt(5)) {
            case 0 -> Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 1 -> {
                byte[] moved = bytes.clone();
                int from = random.nextInt(bytes.length);
                int to = random.nextInt(bytes.length);
                System.arraycopy(bytes, from, moved, to, random.nextInt(bytes.length - Math.max(from, to)));
                yield moved;
            }
            case 2 -> {
                // A length, a count or an index of a binary file that is far out.
                byte[] far = bytes.clone();
                int at = random.nextInt(bytes.length);
                Arrays.fill(far, at, Math.min(bytes.length, at + 1 + random.nextInt(8)), (byte)
                        (random.nextBoolean() ? 0x7f : 0xff));
                yield far;
            }
            default -> flipped(bytes);
        };
    }

    private byte[] flipped(byte[] bytes) {
        byte[] flipped = bytes.clone();
        for (int count = 1 + random.nextInt(4); count > 0; count--) {
            flipped[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (Arrays.equals(flipped, bytes)) {
            flipped[0] ^= 1;
        }
        return flipped;
    }

    private <T> T pick(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private static byte[] file(Map<String, byte[]> files, String name) {
        byte[] bytes = files.get(name);
        if (bytes == null) {
            throw new IllegalArgumentException("package must have the file: name=" + name);
        }
        return bytes;
    }
}
