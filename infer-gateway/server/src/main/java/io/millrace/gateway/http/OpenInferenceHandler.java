package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.millrace.contract.Column;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.core.Pipeline;
import io.millrace.gateway.core.ServedModel;
import io.millrace.gateway.model.ModelCache;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Answers the routes of the Open Inference Protocol, version 2. No call waits: bodies are collected as they arrive, and
 * answers come from the pipeline. Threads: any.
 *
 * @see <a href="https://github.com/open-inference/open-inference-protocol">the protocol and its binary tensor extension</a>
 */
final class OpenInferenceHandler extends Handler.Abstract {
    private static final String OPENAPI = "openapi.yaml";

    private final HttpConfig config;
    private final Pipeline pipeline;
    private final ModelCache models;
    private final CatalogWatch catalogs;
    private final Access access;
    private final Capacity capacity;
    private final String version;
    private final SchemaCache schemas = new SchemaCache();
    private final ThreadBursts bursts;
    private final byte[] openapi;
    private volatile boolean draining;

    OpenInferenceHandler(
            HttpConfig config,
            Pipeline pipeline,
            ModelCache models,
            CatalogWatch catalogs,
            Capacity capacity,
            String version) {
        this.config = config;
        this.pipeline = pipeline;
        this.bursts = new ThreadBursts(pipeline);
        this.models = models;
        this.catalogs = catalogs;
        this.access = new Access(config.token());
        this.capacity = capacity;
        this.version = version;
        this.openapi = resource(OPENAPI);
    }

    private static byte[] resource(String name) {
        try (var in = Objects.requireNonNull(OpenInferenceHandler.class.getResourceAsStream(name), name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("resource cannot be read: name=" + name, e);
        }
    }

    /** From now on it is not ready, and connections end with their answer. */
    void drain() {
        draining = true;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Exchange exchange = new Exchange(request, response, callback, () -> draining);
        try {
            String path = Objects.requireNonNullElse(request.getHttpURI().getPath(), "");
            Route.Match match = Route.of(request.getMethod(), path);
            access.check(match.route(), request.getHeaders());
            answer(exchange, match);
        } catch (RuntimeException | Error e) {
            exchange.refuse(e);
        }
        return true;
    }

    private void answer(Exchange exchange, Route.Match match) {
        switch (match.route()) {
            case SERVER -> server(exchange);
            case LIVE -> flag(exchange, "live");
            case READY -> {
                checkReady();
                flag(exchange, "ready");
            }
            case MODEL, VERSION -> metadata(exchange, model(match));
            case MODEL_READY, VERSION_READY -> modelReady(exchange, model(match));
            case MODEL_INFER, VERSION_INFER -> infer(exchange, model(match));
            case INDEX -> index(exchange);
            case LOAD -> load(exchange, model(match).reference());
            case UNLOAD -> unload(exchange, model(match).reference());
            case OPENAPI -> exchange.send(200, "application/yaml", ByteBuffer.wrap(openapi), () -> {});
        }
    }

    private Catalog.Model model(Route.Match match) {
        return catalogs.catalog().model(match.model(), match.version());
    }

    private void server(Exchange exchange) {
        exchange.json(200, out -> {
            out.writeStartObject();
            out.writeStringField("name", "millrace");
            out.writeStringField("version", version);
            out.writeArrayFieldStart("extensions");
            out.writeString("binary_tensor_data");
            out.writeString("model_repository");
            out.writeEndArray();
            out.writeEndObject();
        });
    }

    private static void flag(Exchange exchange, String name) {
        exchange.json(200, out -> {
            out.writeStartObject();
            out.writeBooleanField(name, true);
            out.writeEndObject();
        });
    }

    private void checkReady() {
        if (draining) {
            throw new ContractException(ErrorCode.SHUTTING_DOWN, "gateway is shutting down");
        }
        catalogs.catalog();
    }

    private void modelReady(Exchange exchange, Catalog.Model model) {
        ModelReference reference = model.reference();
        if (!isResident(reference)) {
            throw new ContractException(
                    ErrorCode.NEED_MODEL,
                    "model is not loaded, its first request will load it: model=" + reference.project() + ", version="
                            + reference.modelId());
        }
        exchange.json(200, out -> {
            out.writeStartObject();
            out.writeStringField("name", reference.project());
            out.writeBooleanField("ready", true);
            out.writeEndObject();
        });
    }

    private boolean isResident(ModelReference reference) {
        ServedModel resident = models.acquire(reference.modelKey());
        if (resident == null) {
            return false;
        }
        resident.release();
        return true;
    }

    /** Only a loaded model knows its columns, so this may load it. */
    private void metadata(Exchange exchange, Catalog.Model model) {
        ModelReference reference = model.reference();
        ServedModel resident = models.acquire(reference.modelKey());
        if (resident != null) {
            describe(exchange, model, resident);
            return;
        }
        load(exchange, reference, () -> {
            ServedModel loaded = models.acquire(reference.modelKey());
            if (loaded == null) {
                throw new ContractException(
                        ErrorCode.NEED_MODEL, "model left memory again: model=" + reference.project());
            }
            describe(exchange, model, loaded);
        });
    }

    /** Gives the model back. */
    private void describe(Exchange exchange, Catalog.Model model, ServedModel resident) {
        try {
            exchange.json(200, out -> {
                out.writeStartObject();
                out.writeStringField("name", model.reference().project());
                out.writeArrayFieldStart("versions");
                for (long modelId : catalogs.catalog()
                        .project(model.reference().project())
                        .models()
                        .keySet()) {
                    out.writeString(Long.toString(modelId));
                }
                out.writeEndArray();
                out.writeStringField("platform", model.format());
                out.writeArrayFieldStart("inputs");
                for (Column column : resident.inputs().columns()) {
                    tensor(out, column.name(), Datatype.of(column.type()), -1);
                }
                out.writeEndArray();
                out.writeArrayFieldStart("outputs");
                tensor(out, "prediction", Datatype.FP64, -1);
                if (resident.classCount() > 0) {
                    tensor(out, "probabilities", Datatype.FP64, resident.classCount());
                    tensor(out, "label", Datatype.BYTES, -1);
                }
                out.writeEndArray();
                out.writeEndObject();
            });
        } finally {
            resident.release();
        }
    }

    private static void tensor(JsonGenerator out, String name, Datatype datatype, int columns) throws IOException {
        out.writeStartObject();
        out.writeStringField("name", name);
        out.writeStringField("datatype", datatype.name());
        out.writeArrayFieldStart("shape");
        out.writeNumber(-1);
        if (columns >= 0) {
            out.writeNumber(columns);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private void load(Exchange exchange, ModelReference reference) {
        load(exchange, reference, () -> exchange.json(200, out -> state(out, reference, true)));
    }

    private void load(Exchange exchange, ModelReference reference, Runnable loaded) {
        Capacity.Ticket ticket = capacity.enter();
        long now = System.nanoTime();
        exchange.awaitAnswer();
        expire(exchange, config.timeout().toMillis());
        pipeline.submit(new LoadRequest(
                exchange, reference, ticket, now, now + config.timeout().toNanos(), loaded));
    }

    private void unload(Exchange exchange, ModelReference reference) {
        models.unload(reference.modelKey());
        exchange.json(200, out -> state(out, reference, false));
    }

    private static void state(JsonGenerator out, ModelReference reference, boolean resident) throws IOException {
        out.writeStartObject();
        out.writeStringField("name", reference.project());
        out.writeStringField("version", Long.toString(reference.modelId()));
        out.writeStringField("state", resident ? "READY" : "UNAVAILABLE");
        out.writeStringField("reason", resident ? "" : "not loaded, its first request will load it");
        out.writeEndObject();
    }

    private void index(Exchange exchange) {
        Catalog catalog = catalogs.catalog();
        read(exchange, (ticket, body, length) -> {
            boolean onlyReady = onlyReady(body, length);
            exchange.json(200, out -> {
                out.writeStartArray();
                for (Catalog.Project project : catalog.projects()) {
                    for (Catalog.Model model : project.models().values()) {
                        boolean resident = isResident(model.reference());
                        if (resident || !onlyReady) {
                            state(out, model.reference(), resident);
                        }
                    }
                }
                out.writeEndArray();
            });
            ticket.close();
        });
    }

    /** What {@code {"ready": true}} says; an empty body says no. */
    private static boolean onlyReady(byte[] body, int length) {
        boolean ready = false;
        try (JsonParser in = InferParser.JSON.createParser(body, 0, length)) {
            if (in.nextToken() == JsonToken.START_OBJECT) {
                while (in.nextToken() != JsonToken.END_OBJECT) {
                    boolean isReady = in.currentName().equals("ready");
                    JsonToken value = in.nextToken();
                    in.skipChildren();
                    ready = isReady ? value == JsonToken.VALUE_TRUE : ready;
                }
            }
        } catch (JsonProcessingException e) {
            throw InferParser.notJson(e);
        } catch (IOException e) {
            throw new AssertionError("memory does not fail", e);
        }
        return ready;
    }

    private void infer(Exchange exchange, Catalog.Model model) {
        long accepted = System.nanoTime();
        read(exchange, (ticket, body, length) -> {
            long received = System.nanoTime();
            int jsonLength = jsonLength(exchange.request(), length);
            InferBody infer = InferParser.parse(body, length, jsonLength, config.rowsMax(), ticket);
            long timeoutMillis = timeoutMillis(infer);
            expire(exchange, timeoutMillis);
            bursts.submit(new InferRequest(
                    exchange,
                    model,
                    infer,
                    schemas.schema(infer.rows().columns()),
                    ticket,
                    getServer().getThreadPool(),
                    received,
                    accepted + TimeUnit.MILLISECONDS.toNanos(timeoutMillis)));
        });
    }

    private long timeoutMillis(InferBody infer) {
        long limitMillis = config.timeout().toMillis();
        if (infer.timeoutMillis() > limitMillis) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "timeout_ms must be a whole number: timeout_ms=" + infer.timeoutMillis() + ", min=1, max="
                            + limitMillis);
        }
        return infer.timeoutMillis() == 0 ? limitMillis : infer.timeoutMillis();
    }

    private static int jsonLength(Request request, int bodyLength) {
        String header = request.getHeaders().get(InferRequest.HEADER_LENGTH);
        if (header == null) {
            return bodyLength;
        }
        if (header.matches("[0-9]{1,9}") && Integer.parseInt(header) <= bodyLength) {
            return Integer.parseInt(header);
        }
        throw new Refusal(
                HttpStatus.BAD_REQUEST_400,
                InferRequest.HEADER_LENGTH + " must be the length of the JSON in the body: value=" + header
                        + ", bodyLength=" + bodyLength);
    }

    /** What to do with a body; has to see that the ticket is closed unless it throws. */
    private interface BodyUse {
        void accept(Capacity.Ticket ticket, byte[] body, int length);
    }

    private void read(Exchange exchange, BodyUse use) {
        Capacity.Ticket ticket = capacity.enter();
        exchange.awaitAnswer();
        BodyReader.Receiver receiver = new BodyReader.Receiver() {
            @Override
            public void received(byte[] body, int length) {
                try {
                    use.accept(ticket, body, length);
                } catch (RuntimeException | Error e) {
                    refuse(exchange, e);
                    ticket.close();
                }
            }

            @Override
            public void failed(Throwable failure) {
                refuse(exchange, failure);
                ticket.close();
            }
        };
        Runnable late = () -> exchange.expire(
                getServer().getScheduler(),
                config.timeout().toMillis(),
                new Refusal(
                        HttpStatus.REQUEST_TIMEOUT_408,
                        "request did not arrive in time: timeoutMillis="
                                + config.timeout().toMillis(),
                        HttpHeader.CONNECTION.asString(),
                        "close"));
        new BodyReader(exchange.request(), config.requestBytesMax(), ticket, late, receiver).run();
    }

    private void refuse(Exchange exchange, Throwable failure) {
        if (failure instanceof ContractException known) {
            pipeline.malformed(
                    known.code(),
                    String.valueOf(known.getMessage()),
                    exchange.trace().traceId());
        }
        if (failure instanceof IOException) {
            exchange.lost(failure);
        } else {
            exchange.refuse(failure);
        }
    }

    private void expire(Exchange exchange, long millis) {
        Scheduler scheduler = getServer().getScheduler();
        exchange.expire(
                scheduler,
                millis,
                new Refusal(
                        HttpStatus.GATEWAY_TIMEOUT_504, "request is not answered in time: timeoutMillis=" + millis));
    }
}
