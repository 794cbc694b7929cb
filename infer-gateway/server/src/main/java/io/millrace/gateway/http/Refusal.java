package io.millrace.gateway.http;

import io.millrace.contract.ErrorCode;
import org.eclipse.jetty.http.HttpStatus;

/** A request that HTTP itself refuses, before or instead of the pipeline. */
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String header;
    private final String headerValue;

    Refusal(int status, String message) {
        this(status, message, "", "");
    }

    /** With a response header that tells what to do. */
    Refusal(int status, String message, String header, String headerValue) {
        super(message);
        this.status = status;
        this.header = header;
        this.headerValue = headerValue;
    }

    int status() {
        return status;
    }

    /** Name of the header; empty for none. */
    String header() {
        return header;
    }

    String headerValue() {
        return headerValue;
    }

    /** The status of an error of the pipeline, by blame. */
    static int status(ErrorCode code) {
        return switch (code) {
            case PAYLOAD_TOO_LARGE -> HttpStatus.PAYLOAD_TOO_LARGE_413;
            case QUEUE_FULL, LIMIT_EXCEEDED -> HttpStatus.TOO_MANY_REQUESTS_429;
            case DEADLINE_EXCEEDED -> HttpStatus.GATEWAY_TIMEOUT_504;
            case SHUTTING_DOWN, STORE_UNAVAILABLE, MODEL_TOO_LARGE, OUT_OF_MEMORY, NEED_MODEL ->
                HttpStatus.SERVICE_UNAVAILABLE_503;
            case INVALID_ENVELOPE -> HttpStatus.BAD_REQUEST_400;
            default ->
                code.code() < ErrorCode.INTERNAL_BASE
                        ? HttpStatus.BAD_REQUEST_400
                        : HttpStatus.INTERNAL_SERVER_ERROR_500;
        };
    }
}
