package org.apache.kafka.server.purgatory;

import static org.apache.kafka.server.purgatory.PurgatorySetting.ENOUGH_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.KEY;
import static org.apache.kafka.server.purgatory.PurgatorySetting.LATER_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.OTHER;
import static org.apache.kafka.server.purgatory.PurgatorySetting.PASSES_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.SOON_MS;
import static wheelproof.kafka.Confirmation.await;
import static wheelproof.kafka.Confirmation.holdsWithin;
import static wheelproof.kafka.Confirmation.join;
import static wheelproof.kafka.Confirmation.start;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Gate;

/** What it means that an expiry takes the operation's lock (KAFKA-19312). */
final class ConfirmExclusiveExpiry {
    /** Enough to hold an attempt before the operation expires. */
    private static final long AFTER_MS = 1_000;

    private ConfirmExclusiveExpiry() {}

    /** One operation's predicate takes long; it and another one expire meanwhile. */
    static Observation delaysOthers(PurgatorySetting in) throws Exception {
        ConfirmedOperation slow = new ConfirmedOperation(AFTER_MS);
        in.watch(slow, KEY);
        Gate gate = new Gate();
        Thread trigger = attemptUntil(gate, slow, in.purgatory);
        ConfirmedOperation stranger = new ConfirmedOperation(SOON_MS);
        in.watch(stranger, OTHER);
        await("the stranger has been submitted", () -> in.purgatory.numDelayed() == 0);
        boolean ended = holdsWithin(PASSES_MS, stranger::hasExpired);
        gate.open();
        join(trigger);
        boolean endedAfterwards = holdsWithin(ENOUGH_MS, stranger::hasExpired);
        return new Observation(
                !ended && endedAfterwards,
                "while another operation's tryComplete ran, one under another key had expired "
                        + PASSES_MS + " ms after its submission: " + ended
                        + "; after that tryComplete ended: " + endedAfterwards);
    }

    /** Of an expiry's and a trigger's callback each triggers the other one's operation. */
    static Observation callbacks(PurgatorySetting in) throws Exception {
        Gate expiring = new Gate();
        Gate completing = new Gate();
        ConfirmedOperation expired = new ConfirmedOperation(SOON_MS).callsBack(() -> {
            expiring.pass();
            in.purgatory.checkAndComplete(OTHER);
        });
        ConfirmedOperation completed = new ConfirmedOperation(LATER_MS).callsBack(() -> {
            completing.pass();
            in.purgatory.checkAndComplete(KEY);
        });
        in.watch(completed, OTHER);
        in.watch(expired, KEY);
        completed.completesWhen(() -> true);
        Thread trigger = start(() -> in.purgatory.checkAndComplete(OTHER));
        expiring.awaitArrival();
        completing.awaitArrival();
        expiring.open();
        completing.open();
        return bothEnd(trigger, expired, "both held their operation's lock when they triggered");
    }

    /** The same, but the trigger's callback has looked at the other operation in time. */
    static Observation queuedCallbacks(PurgatorySetting in) throws Exception {
        ConfirmedOperation expired = new ConfirmedOperation(AFTER_MS)
                .callsBack(() -> in.purgatory.checkAndComplete(OTHER));
        ConfirmedOperation completed = new ConfirmedOperation(LATER_MS)
                .callsBack(() -> in.purgatory.checkAndComplete(KEY));
        in.watch(completed, OTHER);
        in.watch(expired, KEY);
        Gate gate = new Gate();
        attemptUntil(gate, expired, in.purgatory);
        completed.completesWhen(() -> true);
        Thread trigger = start(() -> in.purgatory.checkAndComplete(OTHER));
        await("the trigger's callback waits behind the expiry", () -> expired.queued() == 2);
        gate.open();
        return bothEnd(trigger, expired, "the trigger's waited for the lock behind the expiry");
    }

    private static Observation bothEnd(Thread trigger, ConfirmedOperation expired, String how)
            throws Exception {
        boolean ended =
                holdsWithin(ENOUGH_MS, () -> !trigger.isAlive() && expired.hasExpired());
        return new Observation(
                !ended,
                "each callback triggered the other one's operation; " + how + "; both ended: "
                        + ended);
    }

    /** A group triggers under its own lock, which the callbacks of its operations take, too. */
    static Observation groupDeadlock() throws Exception {
        ReentrantLock group = new ReentrantLock();
        PurgatorySetting in = new PurgatorySetting();
        ConfirmedOperation operation = new ConfirmedOperation(AFTER_MS).callsBack(() -> {
            group.lock();
            group.unlock();
        });
        in.watch(operation, KEY);
        Gate gate = new Gate();
        attemptUntil(gate, operation, in.purgatory);
        start(() -> {
            group.lock();
            try {
                in.purgatory.checkAndComplete(KEY);
            } finally {
                group.unlock();
            }
        }).setName("the group's trigger");
        await("the group waits behind the expiry", () -> operation.queued() == 2);
        gate.open();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        if (!holdsWithin(ENOUGH_MS, () -> threads.findDeadlockedThreads() != null)) {
            in.purgatory.shutdown();
            return new Observation(false, "no deadlock within " + ENOUGH_MS + " ms");
        }
        ThreadInfo[] deadlocked = threads.getThreadInfo(threads.findDeadlockedThreads());
        return new Observation(true, "findDeadlockedThreads: " + Arrays.stream(deadlocked)
                .map(thread -> thread.getThreadName() + " waits for " + thread.getLockOwnerName())
                .sorted().collect(Collectors.joining("; ")));
    }

    /** Lets an attempt that fails last until `gate` is open, and the expiry wait for its lock. */
    private static Thread attemptUntil(
            Gate gate, ConfirmedOperation operation,
            DelayedOperationPurgatory<ConfirmedOperation> purgatory) throws Exception {
        operation.completesWhen(() -> {
            gate.pass();
            return false;
        });
        Thread trigger = start(() -> purgatory.checkAndComplete(KEY));
        gate.awaitArrival();
        await("the expiry waits for the operation's lock", () -> operation.queued() == 1);
        return trigger;
    }
}
