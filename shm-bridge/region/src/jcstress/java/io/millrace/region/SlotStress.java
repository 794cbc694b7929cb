package io.millrace.region;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.Sleeper;
import io.millrace.contract.layout.SlotState;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZII_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Every pair of moves of a slot that can meet, and both halves of the sleep protocol. States are by their codes. */
public final class SlotStress {
    private SlotStress() {}

    /** Two backends want one slot. */
    @JCStressTest
    @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "the first has it")
    @Outcome(id = "false, true, 2", expect = ACCEPTABLE, desc = "the second has it")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class TwoClaims extends StressRegion {
        @Actor
        public void first(ZZI_Result r) {
            r.r1 = claim(0, FIRST_PID) != 0;
        }

        @Actor
        public void second(ZZI_Result r) {
            r.r2 = claim(0, SECOND_PID) != 0;
        }

        @Arbiter
        public void owner(ZZI_Result r) {
            r.r3 = ownerPid(0);
        }
    }

    /** Who takes a slot sees what its backend wrote. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "1, 42", expect = ACCEPTABLE, desc = "taken")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class ASubmittedRequestIsSeenWhole extends StressRegion {
        private final long word = begin(SlotState.CLAIMED);

        @Actor
        public void backend() {
            fill(0, 42);
            submit(0, word);
        }

        @Actor
        public void gateway(II_Result r) {
            r.r1 = slots.takeReady(new int[2], new long[2]);
            r.r2 = r.r1 == 0 ? 0 : slots.requestLength(0);
        }
    }

    /** A drain of the ready bits races with backends that set them. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "each is taken once")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class NoReadyBitIsLost extends StressRegion {
        private final long first = claim(0, FIRST_PID);
        private final long second = claim(1, SECOND_PID);
        private int early;

        @Actor
        public void backends() {
            submit(0, first);
            submit(1, second);
        }

        @Actor
        public void gateway() {
            early = slots.takeReady(new int[2], new long[2]);
        }

        @Arbiter
        public void all(I_Result r) {
            r.r1 = early + slots.takeReady(new int[2], new long[2]);
        }
    }

    /** The gateway falls asleep while a request comes. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "rung")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "seen before sleeping")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "both")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class TheGatewayNeverSleepsOnARequest extends StressRegion {
        private final long word = begin(SlotState.CLAIMED);

        @Actor
        public void backend(ZZ_Result r) {
            submit(0, word);
            r.r1 = mustWake();
        }

        @Actor
        public void gateway(ZZ_Result r) {
            control.fallAsleep(Sleeper.AT_DOORBELL);
            r.r2 = slots.hasReady();
        }
    }

    /** A backend falls asleep while its answer comes. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "seen before sleeping")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "rung")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "both")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class ABackendNeverSleepsOnAnAnswer extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void backend(ZZ_Result r) {
            sleep(0);
            r.r1 = isDone(0, word);
        }

        @Actor
        public void gateway(ZZ_Result r) {
            r.r2 = slots.finish(0, word, 7, 0, 1) && slots.wakeOwner(0);
        }
    }

    /** A backend falls asleep at its slot's line while its answer comes; a sleeper at a word that changed is woken. */
    @JCStressTest
    @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "seen before sleeping, and woken for nothing")
    @Outcome(id = "true, 2", expect = ACCEPTABLE, desc = "seen before sleeping, after the gateway looked")
    @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "woken, or kept from sleeping")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class ABackendNeverSleepsAtALineWithItsAnswer extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void backend(ZI_Result r) {
            sleepAtLine(0);
            r.r1 = isDone(0, word);
        }

        @Actor
        public void gateway() {
            if (slots.finish(0, word, 7, 0, 1) && slots.wakeOwner(0)) {
                throw new IllegalStateException("rung, though nobody is at the doorbell");
            }
        }

        @Arbiter
        public void word(ZI_Result r) {
            r.r2 = waiter(0);
        }
    }

    /** Who sees DONE sees the answer. */
    @JCStressTest
    @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "true, 7", expect = ACCEPTABLE, desc = "whole")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class AnAnswerIsSeenWhole extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void backend(ZI_Result r) {
            r.r1 = isDone(0, word);
            r.r2 = r.r1 ? responseLength(0) : 0;
        }

        @Actor
        public void gateway() {
            slots.finish(0, word, 7, 0, 1);
        }
    }

    /** A backend gives up while the gateway takes and finishes its request. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "before it was taken")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "while it ran")
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "after it was answered")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class ACancelledRequestFreesItsSlot extends StressRegion {
        private final long word = begin(SlotState.SUBMITTED);

        @Actor
        public void gateway(II_Result r) {
            if (slots.take(0, word)) {
                r.r1 = slots.finish(0, SlotLayout.withState(word, SlotState.RUNNING), 7, 0, 1) ? 2 : 1;
            }
        }

        @Actor
        public void backend() {
            release(0, word);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = stateCode(0);
        }
    }

    /** The sweeper takes a claimed slot whose owner goes on. */
    @JCStressTest
    @Outcome(id = "true, 2", expect = ACCEPTABLE, desc = "the sweeper saw too old a word")
    @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "taken after it was submitted")
    @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "taken before")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class AReclaimMeetsASubmit extends StressRegion {
        private final long word = begin(SlotState.CLAIMED);

        @Actor
        public void backend(ZI_Result r) {
            r.r1 = submit(0, word);
        }

        @Actor
        public void sweeper() {
            slots.reclaim(0, slots.stateWord(0));
        }

        @Arbiter
        public void end(ZI_Result r) {
            r.r2 = stateCode(0);
        }
    }

    /** The sweeper takes a running slot while its answer comes. */
    @JCStressTest
    @Outcome(id = "true, 4", expect = ACCEPTABLE, desc = "the sweeper saw too old a word")
    @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "taken after it was answered")
    @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "abandoned, and freed by the worker")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class AReclaimMeetsAFinish extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void worker(ZI_Result r) {
            r.r1 = slots.finish(0, word, 7, 0, 1);
        }

        @Actor
        public void sweeper() {
            slots.reclaim(0, slots.stateWord(0));
        }

        @Arbiter
        public void end(ZI_Result r) {
            r.r2 = stateCode(0);
        }
    }

    /** Sweeper and backend give a running slot up together. */
    @JCStressTest
    @Outcome(id = "5", expect = ACCEPTABLE, desc = "abandoned once")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class AReclaimMeetsARelease extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void backend() {
            release(0, word);
        }

        @Actor
        public void sweeper() {
            slots.reclaim(0, slots.stateWord(0));
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = stateCode(0);
        }
    }

    /** The sweeper is late: the slot is given back and taken anew. */
    @JCStressTest
    @Outcome(id = "true, 1, 2", expect = ACCEPTABLE, desc = "the next owner has it")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class AReclaimLeavesTheNextUseAlone extends StressRegion {
        private final long word = begin(SlotState.DONE);

        @Actor
        public void backends(ZII_Result r) {
            release(0, word);
            r.r1 = claim(0, SECOND_PID) != 0;
        }

        @Actor
        public void sweeper() {
            slots.reclaim(0, word);
        }

        @Arbiter
        public void end(ZII_Result r) {
            r.r2 = stateCode(0);
            r.r3 = ownerPid(0);
        }
    }

    /** A dead owner's slot is taken and used again while its answer comes. */
    @JCStressTest
    @Outcome(id = "true, 1, 2", expect = ACCEPTABLE, desc = "the next owner has it")
    @Outcome(id = "false, 0, 1", expect = ACCEPTABLE, desc = "freed by the worker")
    @Outcome(id = "false, 4, 1", expect = ACCEPTABLE, desc = "the sweeper saw too old a word")
    @Outcome(expect = FORBIDDEN, desc = "a bug")
    @State
    public static class ALateAnswerLeavesTheNextUseAlone extends StressRegion {
        private final long word = begin(SlotState.RUNNING);

        @Actor
        public void worker() {
            slots.finish(0, word, 7, 0, 1);
        }

        @Actor
        public void sweeperAndNext(ZII_Result r) {
            slots.reclaim(0, slots.stateWord(0));
            r.r1 = claim(0, SECOND_PID) != 0;
        }

        @Arbiter
        public void end(ZII_Result r) {
            r.r2 = stateCode(0);
            r.r3 = ownerPid(0);
        }
    }
}
