package io.millrace.train.child;

/** XGBoost refused a call; the message is its own, without the stack trace it appends. */
final class XgboostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    XgboostException(String reason) {
        super(firstParagraph(reason));
    }

    private static String firstParagraph(String reason) {
        int trace = reason.indexOf("\nStack trace");
        return (trace < 0 ? reason : reason.substring(0, trace)).strip();
    }
}
