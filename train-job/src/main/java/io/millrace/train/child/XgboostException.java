package io.millrace.train.child;

import java.util.regex.Pattern;

/** XGBoost refused a call; the message is its own, without the place in its source and the stack trace it adds. */
final class XgboostException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Pattern PLACE = Pattern.compile("^\\[\\d\\d:\\d\\d:\\d\\d] \\S+:\\d+: ");

    XgboostException(String reason) {
        super(firstParagraph(reason));
    }

    private static String firstParagraph(String reason) {
        int trace = reason.indexOf("\nStack trace");
        String text = (trace < 0 ? reason : reason.substring(0, trace)).strip();
        return PLACE.matcher(text).replaceFirst("");
    }
}
