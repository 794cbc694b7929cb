package io.millrace.contract.layout;

/**
 * Whether and where one side sleeps, as it tells the other: a backend in {@link SlotLayout#WAITER_OFFSET}, the dispatcher in
 * {@link ControlLayout#SLEEPING_OFFSET}. Each of the two is also the word of a futex. Who wakes makes it {@link #AWAKE} first.
 */
public final class Sleeper {
    /** It will look by itself. */
    public static final int AWAKE = 0;

    /** It sleeps at its end of the doorbell: ring. */
    public static final int AT_DOORBELL = 1;

    /** It sleeps at the word itself, where it hears nothing else, for a few milliseconds: wake by the futex. */
    public static final int AT_WORD = 2;

    private Sleeper() {}
}
