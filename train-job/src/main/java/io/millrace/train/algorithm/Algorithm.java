package io.millrace.train.algorithm;

import com.fasterxml.jackson.databind.JsonNode;
import io.millrace.contract.Nearest;
import io.millrace.contract.Task;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm that can be asked for by name.
 *
 * @param name the canonical name, as stored in {@code ml.runs.algorithm}
 * @param aliases other names it answers to
 * @param tasks the tasks it solves
 * @param parameters everything it can be told
 */
public record Algorithm(String name, List<String> aliases, List<Task> tasks, List<HyperParameter> parameters) {
    public Algorithm {
        aliases = List.copyOf(aliases);
        tasks = List.copyOf(tasks);
        parameters = List.copyOf(parameters);
    }

    /**
     * The objective to train with.
     *
     * @param asked the run's own choice, or null for the task's default
     * @param classCount number of classes; 0 for a regression
     * @throws HyperParameterException if {@code asked} does not fit the task
     */
    public Objective objective(@Nullable String asked, Task task, int classCount) {
        if (!tasks.contains(task)) {
            throw new HyperParameterException(
                    "algorithm must solve the project's task: algorithm=" + name + ", task=" + task);
        }
        List<Objective> fitting = Stream.of(Objective.values())
                .filter(objective -> objective.fits(task, classCount))
                .toList();
        if (asked == null || asked.isEmpty()) {
            return fitting.get(0);
        }
        return fitting.stream()
                .filter(objective -> objective.label().equals(asked))
                .findFirst()
                .orElseThrow(() -> new HyperParameterException(
                        "objective must fit the task: objective=" + asked + ", task=" + task + ", classes=" + classCount
                                + ", fitting="
                                + fitting.stream().map(Objective::label).toList()));
    }

    /**
     * Checks hyper-parameters by name, type and range.
     *
     * @param asked a JSON object; aliases accepted
     * @return canonical name to {@link Long}, {@link Double} or {@link String}, in the order of {@code asked}
     * @throws HyperParameterException naming the first one that is wrong and what is accepted
     */
    public Map<String, Object> check(JsonNode asked) {
        if (!asked.isObject()) {
            throw new HyperParameterException("hyper-parameters must be a JSON object: type=" + asked.getNodeType());
        }
        Map<String, Object> checked = new LinkedHashMap<>();
        asked.properties().forEach(entry -> {
            if (entry.getKey().equals("objective")) {
                return;
            }
            HyperParameter parameter = parameter(entry.getKey());
            if (checked.put(parameter.name(), value(parameter, entry.getKey(), entry.getValue())) != null) {
                throw new HyperParameterException("hyper-parameter must be given once: name=" + parameter.name()
                        + ", again as=" + entry.getKey());
            }
        });
        return checked;
    }

    private HyperParameter parameter(String asked) {
        Optional<HyperParameter> found = parameters.stream()
                .filter(parameter ->
                        parameter.name().equals(asked) || parameter.aliases().contains(asked))
                .findFirst();
        return found.orElseThrow(() ->
                new HyperParameterException("hyper-parameter must be one the algorithm has: algorithm=" + name
                        + ", name=" + asked + nearest(asked, parameters.stream().flatMap(Algorithm::names))));
    }

    /** What was probably meant, as the end of a message; empty when nothing is near. */
    static String nearest(String asked, Stream<String> names) {
        return Nearest.of(asked.toLowerCase(Locale.ROOT), names.toList())
                .map(near -> ", nearest=" + near)
                .orElse("");
    }

    private static Stream<String> names(HyperParameter parameter) {
        return Stream.concat(Stream.of(parameter.name()), parameter.aliases().stream());
    }

    private static Object value(HyperParameter parameter, String asked, JsonNode value) {
        boolean accepted = switch (parameter.kind()) {
            case CHOICE -> value.isTextual() && parameter.choices().contains(value.textValue());
            case INTEGER -> isWhole(value) && within(parameter, value.doubleValue());
            case REAL -> value.isNumber() && within(parameter, value.doubleValue());
        };
        if (!accepted) {
            throw new HyperParameterException("hyper-parameter must be in its range: name=" + asked + ", value=" + value
                    + ", range=" + parameter.range());
        }
        return switch (parameter.kind()) {
            case CHOICE -> value.textValue();
            case INTEGER -> value.longValue();
            case REAL -> value.doubleValue();
        };
    }

    private static boolean isWhole(JsonNode value) {
        return value.isNumber() && value.doubleValue() == Math.rint(value.doubleValue());
    }

    private static boolean within(HyperParameter parameter, double value) {
        return Double.isFinite(value)
                && value <= parameter.maximum()
                && (parameter.minimumExcluded() ? value > parameter.minimum() : value >= parameter.minimum());
    }
}
