package io.millrace.contract;

import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.layout.DoorbellLayout;
import io.millrace.contract.layout.RegionLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** Damage beyond prefixes and bits: parts cut out, repeated or replaced, and bytes that are nothing at all. */
final class DocumentDamagePropertyTest {
    private static final List<Consumer<byte[]>> PARSERS = List.of(
            ModelManifest::parse,
            FittedPreprocessing::parse,
            ModelReference::parse,
            ImportRequest::parse,
            ImportAnswer::parse,
            RegionLayout::decode,
            DoorbellLayout::decode);

    /** What a careless or hostile writer might put in place of a part. */
    private static final List<String> FRAGMENTS = List.of(
            "null",
            "-1",
            "1e999",
            "9".repeat(400),
            "{}",
            "[[]]",
            "\"\\ud800\"",
            "\"\"",
            "[".repeat(2000),
            "true",
            "\u0000",
            "\"a\":",
            "0.1");

    @Property(tries = 500)
    void anyBytesAreReadOrRefused(@ForAll @Size(max = 300) byte[] bytes) {
        for (Consumer<byte[]> parser : PARSERS) {
            Survival.outcome(bytes, parser);
        }
    }

    @Property(tries = 2000)
    void aDamagedManifestIsReadOrRefused(@ForAll("manifests") byte[] document) {
        Survival.outcome(document, ModelManifest::parse);
    }

    @Property(tries = 2000)
    void aDamagedFittedIsReadAndBoundOrRefused(@ForAll("fitteds") byte[] document) {
        Survival.outcome(document, bytes -> {
            FittedPreprocessing fitted = FittedPreprocessing.parse(bytes);
            fitted.bind(fitted.inputs().columns());
        });
    }

    @Provide
    Arbitrary<byte[]> manifests() {
        return damaged(golden("manifest.json"));
    }

    @Provide
    Arbitrary<byte[]> fitteds() {
        return damaged(golden("fitted.json"));
    }

    private static String golden(String name) {
        try {
            return Files.readString(Path.of("src/test/resources/golden", name));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** A value of the document, or any part of it, replaced by a fragment or by another part. */
    private static Arbitrary<byte[]> damaged(String valid) {
        Arbitrary<Integer> places = Arbitraries.integers().between(0, valid.length());
        return Combinators.combine(places, places, places, Arbitraries.of(FRAGMENTS), Arbitraries.of(0, 1, 2))
                .as((from, to, other, fragment, kind) -> {
                    int start = Math.min(from, to);
                    int end = Math.max(from, to);
                    String part = switch (kind) {
                        case 0 -> "";
                        case 1 -> fragment;
                        default -> valid.substring(Math.min(other, start), Math.max(other, start));
                    };
                    // Mostly one value between separators, since a random cut is seldom JSON at all.
                    if (kind == 1) {
                        start = valid.lastIndexOf(':', start) + 1;
                        end = nextSeparator(valid, start);
                    }
                    return (valid.substring(0, start) + part + valid.substring(end)).getBytes(StandardCharsets.UTF_8);
                });
    }

    private static int nextSeparator(String valid, int start) {
        int end = start;
        while (end < valid.length() && ",}]".indexOf(valid.charAt(end)) < 0) {
            end++;
        }
        return end;
    }
}
