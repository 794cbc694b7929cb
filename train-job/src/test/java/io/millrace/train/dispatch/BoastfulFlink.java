package io.millrace.train.dispatch;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

/** A cluster that says it has a free slot when somebody else has just taken it. */
final class BoastfulFlink extends FlinkProxy {
    BoastfulFlink(URI cluster) throws IOException {
        super(cluster);
    }

    @Override
    void handle(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getPath().equals("/overview")) {
            answer(exchange, 200, "{\"slots-available\": 1}".getBytes(StandardCharsets.UTF_8));
            return;
        }
        HttpResponse<byte[]> response = forward(exchange);
        answer(exchange, response.statusCode(), response.body());
    }
}
