package io.millrace.gateway.profile;

/**
 * One level of a stack.
 *
 * @param name as it is shown, and folded by
 */
record Frame(String name, Origin origin) {
    /** Whose code it is, or what else the level stands for; the page's colours. */
    enum Origin {
        THREAD,
        PRODUCT,
        JDK,
        DEPENDENCY,
        NATIVE,
        TYPE
    }
}
