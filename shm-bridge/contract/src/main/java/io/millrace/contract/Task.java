package io.millrace.contract;

import java.util.Locale;

/** What a model is asked to say about a row. */
public enum Task {
    /** One of a fixed list of labels. */
    CLASSIFICATION,
    /** A number. */
    REGRESSION;

    /** Its name in SQL and JSON: lower case. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The task with a name.
     *
     * @param text as in SQL and JSON
     * @throws ContractException {@link ErrorCode#WRONG_TASK} if no task has the name
     */
    public static Task of(String text) {
        for (Task task : values()) {
            if (task.text().equals(text)) {
                return task;
            }
        }
        throw new ContractException(ErrorCode.WRONG_TASK, "task must be classification or regression: task=" + text);
    }
}
