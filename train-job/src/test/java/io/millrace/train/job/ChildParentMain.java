package io.millrace.train.job;

import java.util.concurrent.CountDownLatch;

/** Starts its arguments as a process, prints the process's number and waits to be killed. */
public final class ChildParentMain {
    private ChildParentMain() {}

    public static void main(String[] args) throws Exception {
        Process child = new ProcessBuilder(args).start();
        System.out.println(child.pid());
        new CountDownLatch(1).await();
    }
}
