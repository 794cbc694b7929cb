package io.millrace.gateway.http;

import io.millrace.contract.JsonText;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** What the server itself refuses, before there is a request for the handler: the same form as every other error. */
final class JsonErrors implements Request.Handler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        Object message = request.getAttribute(ErrorHandler.ERROR_MESSAGE);
        String reason = message == null ? HttpStatus.getMessage(status) : message.toString();
        String printable = new String(reason.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        byte[] document = JsonText.of(out -> {
            out.writeStartObject();
            out.writeStringField("error", "request cannot be read: status=" + status + ", reason=" + printable);
            out.writeEndObject();
        });
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, Exchange.JSON);
        response.write(true, ByteBuffer.wrap(document), callback);
        return true;
    }
}
