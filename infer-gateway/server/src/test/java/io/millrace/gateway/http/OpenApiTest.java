package io.millrace.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingModels.TestingPackage;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The OpenAPI document and the running server say the same. */
class OpenApiTest {
    private static TestingHttp http;
    private static TestingPackage model;
    private static Map<String, @Nullable Object> document;

    @BeforeAll
    static void start() throws IOException {
        http = new TestingHttp(Map.of());
        model = TestingModels.binary(http.freshDirectory(), 1);
        http.deploy("churn", 7, model);
        TestingHttp.Answer answer = http.get("/openapi.yaml");
        assertThat(answer.header("Content-Type")).isEqualTo("application/yaml");
        document = new Yaml().load(answer.text());
    }

    @AfterAll
    static void stop() throws IOException {
        http.close();
    }

    private static @Nullable Object at(Object... path) {
        return TestingJson.at(document, path);
    }

    private static Map<?, ?> object(@Nullable Object value) {
        return (Map<?, ?>) Objects.requireNonNull(value);
    }

    @Test
    void listsEveryRouteOfTheServerAndNoOther() {
        TreeSet<String> documented = new TreeSet<>();
        object(at("paths"))
                .forEach((path, methods) -> object(methods).keySet().forEach(method -> {
                    if (!method.equals("parameters")) {
                        documented.add(String.valueOf(method).toUpperCase(Locale.ROOT) + " " + path);
                    }
                }));
        assertThat(documented)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Route.values())
                        .map(route -> route.method() + " " + route.template())
                        .toList());
    }

    @Test
    void everyRouteAnswersAsDocumented() throws IOException {
        for (Route route : Route.values()) {
            String path = route.template().replace("{model}", "churn").replace("{version}", "7");
            check(route, send(route, path, body(route)), 200);
            if (route.template().contains("{model}")) {
                String missing = route.template().replace("{model}", "nobody").replace("{version}", "7");
                check(route, send(route, missing, body(route)), 404);
            }
            if (route.template().endsWith("/infer")) {
                check(route, send(route, path, "{"), 400);
            }
            if (route != Route.LIVE && route != Route.READY) {
                TestingHttp.Answer answer = http.send(http.request(path)
                        .header("Origin", "http://example.com")
                        .method(route.method(), HttpRequest.BodyPublishers.ofString(body(route))));
                check(route, answer, 403);
            }
        }
    }

    private static String body(Route route) {
        return route.template().endsWith("/infer")
                ? TestingRows.columns(
                        model,
                        model.testRows().subList(0, 2),
                        "[{\"name\":\"prediction\"},{\"name\":\"probabilities\"},{\"name\":\"label\"}]")
                : "";
    }

    private static TestingHttp.Answer send(Route route, String path, String body) throws IOException {
        return http.send(http.request(path)
                .method(
                        route.method(),
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body)));
    }

    private static void check(Route route, TestingHttp.Answer answer, int status) {
        String where = route + " " + status + " " + answer.text();
        assertThat(answer.status()).as(where).isEqualTo(status);
        Map<?, ?> operation =
                object(at("paths", route.template(), route.method().toLowerCase(Locale.ROOT)));
        Object response = object(operation.get("responses")).get(Integer.toString(status));
        assertThat(response).as(where).isNotNull();
        Map<?, ?> contents = object(resolve(response).get("content"));
        assertThat(contents.keySet().stream().map(String::valueOf)).as(where).contains(answer.header("Content-Type"));
        Object schema = object(contents.get(answer.header("Content-Type"))).get("schema");
        if (schema != null) {
            List<String> problems = new ArrayList<>();
            validate(schema, answer.json(), "$", problems);
            assertThat(problems).as(where).isEmpty();
        }
    }

    @Test
    void itsExamplesFitItsSchemas() throws IOException {
        Map<?, ?> examples = object(at(
                "paths", "/v2/models/{model}/infer", "post", "requestBody", "content", "application/json", "examples"));
        List<String> problems = new ArrayList<>();
        examples.forEach((name, example) -> validate(
                Map.of("$ref", "#/components/schemas/InferRequest"),
                object(example).get("value"),
                String.valueOf(name),
                problems));
        assertThat(problems).isEmpty();
        assertThat(examples).hasSize(2);
    }

    @Test
    void itsDatatypesAreTheServers() {
        assertThat((Collection<?>) at("components", "schemas", "Datatype", "enum"))
                .isEqualTo(Arrays.stream(Datatype.values()).map(Enum::name).toList());
    }

    private static Map<?, ?> resolve(@Nullable Object node) {
        Object reference = object(node).get("$ref");
        if (reference == null) {
            return object(node);
        }
        Object[] path = String.valueOf(reference).substring(2).split("/");
        return resolve(at(path));
    }

    /** The part of JSON Schema that the document uses. */
    private static void validate(
            @Nullable Object schemaNode, @Nullable Object value, String where, List<String> problems) {
        Map<?, ?> schema = resolve(schemaNode);
        boolean fits = switch (String.valueOf(schema.get("type"))) {
            case "object" -> value instanceof Map;
            case "array" -> value instanceof List;
            case "string" -> value instanceof String;
            case "boolean" -> value instanceof Boolean;
            case "integer" -> value instanceof Long || value instanceof Integer;
            default -> throw new AssertionError(schema);
        };
        if (!fits) {
            problems.add(where + " is no " + schema.get("type"));
            return;
        }
        if (schema.get("enum") instanceof List<?> known && !known.contains(value)) {
            problems.add(where + " is none of " + known);
        }
        if (value instanceof List<?> list && schema.get("items") != null) {
            for (int index = 0; index < list.size(); index++) {
                validate(schema.get("items"), list.get(index), where + "[" + index + "]", problems);
            }
        }
        if (value instanceof Map<?, ?> members) {
            if (schema.get("required") instanceof List<?> required) {
                required.stream()
                        .filter(name -> !members.containsKey(name))
                        .forEach(name -> problems.add(where + " lacks " + name));
            }
            Map<?, ?> properties = object(schema.get("properties"));
            members.forEach((name, member) -> {
                if (properties.containsKey(name)) {
                    validate(properties.get(name), member, where + "." + name, problems);
                } else {
                    problems.add(where + " has an unknown " + name);
                }
            });
        }
    }
}
