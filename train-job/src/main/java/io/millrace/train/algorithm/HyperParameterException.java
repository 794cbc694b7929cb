package io.millrace.train.algorithm;

/** An algorithm, objective or hyper-parameter that was asked for cannot be had; the message names it and what can. */
public final class HyperParameterException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public HyperParameterException(String message) {
        super(message);
    }
}
