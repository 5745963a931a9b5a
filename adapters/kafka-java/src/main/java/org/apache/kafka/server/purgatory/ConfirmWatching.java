package org.apache.kafka.server.purgatory;

import static org.apache.kafka.server.purgatory.PurgatorySetting.ENOUGH_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.KEY;
import static org.apache.kafka.server.purgatory.PurgatorySetting.LATER_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.OTHER;
import static org.apache.kafka.server.purgatory.PurgatorySetting.PASSES_MS;
import static org.apache.kafka.server.purgatory.PurgatorySetting.PURGE_INTERVAL;
import static org.apache.kafka.server.purgatory.PurgatorySetting.SOON_MS;
import static wheelproof.kafka.Confirmation.await;
import static wheelproof.kafka.Confirmation.holdsWithin;
import static wheelproof.kafka.Confirmation.join;
import static wheelproof.kafka.Confirmation.start;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Confirmation.Step;
import wheelproof.kafka.Gate;
import wheelproof.kafka.Internals;
import wheelproof.kafka.RaisesOnce;

/** What stays in the lists and in the timer, and who is not asked. */
final class ConfirmWatching {
    private static final int BURST = 5_000;
    private static final long BURST_MS = 300;

    private ConfirmWatching() {}

    /** The adder has bound the operation to an entry; others hold the monitors of the buckets. */
    static Observation halfAdded(PurgatorySetting in) throws Exception {
        ConfirmedOperation first = new ConfirmedOperation(LATER_MS);
        in.watch(first, OTHER);
        ConfirmedOperation operation = new ConfirmedOperation(LATER_MS);
        List<Thread> adder = new ArrayList<>();
        List<Integer> counts = new ArrayList<>();
        holding(in.buckets(), 0, () -> {
            adder.add(start(() -> in.watch(operation, KEY)));
            await("the adder has bound the operation and waits for a bucket",
                    () -> !operation.isCancelled()
                            && adder.get(0).getState() == Thread.State.BLOCKED);
            operation.completesWhen(() -> true);
            counts.add(in.purgatory.checkAndComplete(KEY));
        });
        join(adder.get(0));
        first.forceComplete();
        in.purgatory.checkAndComplete(OTHER);
        int left = in.purgatory.numDelayed();
        return new Observation(
                counts.get(0) == 1 && operation.isCompleted() && left == 1,
                "checkAndComplete returned " + counts.get(0) + " and the add has returned; all "
                        + "operations are completed, watched() is " + in.purgatory.watched()
                        + ", numDelayed() is " + left + " for up to " + LATER_MS + " ms");
    }

    /** The executor has something else to do while many operations expire. */
    static Observation estimateOverwritten(PurgatorySetting in) throws Exception {
        Gate gate = new Gate();
        in.keepExecutorBusy(gate);
        List<ConfirmedOperation> burst = new ArrayList<>();
        for (int i = 0; i < BURST; i++) {
            ConfirmedOperation operation = new ConfirmedOperation(BURST_MS);
            burst.add(operation);
            in.watch(operation, KEY);
        }
        await("all have been submitted", () -> in.purgatory.numDelayed() == 0);
        Thread.sleep(PASSES_MS);
        gate.open();
        await("all have expired",
                () -> burst.stream().allMatch(ConfirmedOperation::hasExpired));
        Thread.sleep(PASSES_MS);
        int watched = in.purgatory.watched();
        return new Observation(
                watched > PURGE_INTERVAL,
                "all expired at least " + PASSES_MS + " ms (5 passes of the reaper) ago;"
                        + " watched() is " + watched + ", the purge interval " + PURGE_INTERVAL
                        + ", numDelayed() " + in.purgatory.numDelayed() + ", the estimate "
                        + in.estimate());
    }

    static Observation stopAtError(PurgatorySetting in) {
        ConfirmedOperation faulty = new ConfirmedOperation(LATER_MS);
        ConfirmedOperation behind = new ConfirmedOperation(LATER_MS);
        in.watch(faulty, KEY);
        in.watch(behind, KEY);
        faulty.completesWhen(() -> {
            throw new IllegalStateException("the operation's own");
        });
        behind.completesWhen(() -> true);
        int errors = 0;
        for (int i = 0; i < 3; i++) {
            try {
                in.purgatory.checkAndComplete(KEY);
            } catch (IllegalStateException error) {
                errors++;
            }
        }
        return new Observation(
                errors == 3 && !behind.isCompleted(),
                errors + " of 3 triggers ended in the first operation's error; the second one, "
                        + "whose predicate holds, is completed: " + behind.isCompleted());
    }

    static Observation leftAtError(PurgatorySetting in) throws Exception {
        int[] asked = {0};
        ConfirmedOperation operation = new ConfirmedOperation(SOON_MS).completesWhen(() -> {
            if (++asked[0] == 2) {
                throw new IllegalStateException("the operation's own");
            }
            return false;
        });
        boolean raised = false;
        try {
            in.watch(operation, KEY);
        } catch (IllegalStateException error) {
            raised = true;
        }
        boolean ended = holdsWithin(PASSES_MS, operation::isCompleted);
        return new Observation(
                raised && !ended && in.purgatory.watched() == 1,
                "tryCompleteElseWatch raised: " + raised + "; watched() is "
                        + in.purgatory.watched() + ", numDelayed() "
                        + in.purgatory.numDelayed() + ", completed "
                        + (PASSES_MS - SOON_MS) + " ms after its time-out: " + ended);
    }

    /** The wheel's clock stands still, so that not even what is due at once is submitted. */
    static Observation watchedAfterShutdown(PurgatorySetting in) throws Exception {
        in.purgatory.shutdown();
        int before = in.purgatory.numDelayed();
        ConfirmedOperation soon = new ConfirmedOperation(SOON_MS);
        ConfirmedOperation due = new ConfirmedOperation(0);
        boolean completed = in.watch(soon, KEY);
        // In the tick that the wheel's clock still shows the timer would refuse what is due.
        Thread.sleep(SOON_MS);
        completed = in.watch(due, KEY) || completed;
        boolean ended = holdsWithin(PASSES_MS, () -> due.isCompleted() || soon.isCompleted());
        return new Observation(
                !completed && !ended && in.purgatory.watched() == 2,
                "tryCompleteElseWatch after shutdown returned false for a delay of 0 and one of "
                        + SOON_MS + " ms; watched() is " + in.purgatory.watched()
                        + ", numDelayed() was " + before + " and is " + in.purgatory.numDelayed()
                        + ", one of them is completed after " + PASSES_MS + " ms: " + ended);
    }

    /** An advance of the reaper raises once; what is watched afterwards never expires. */
    static Observation reaperEndsAtError() throws Exception {
        SystemTimer timer = new SystemTimer("confirm", 1, 20, Time.SYSTEM.hiResClockMs());
        DelayedOperationPurgatory<ConfirmedOperation> purgatory =
                new DelayedOperationPurgatory<>("confirm", new RaisesOnce(timer), 0, 1, true, true);
        Thread reaper = (Thread) Internals.get(
                DelayedOperationPurgatory.class, purgatory, "expirationReaper");
        reaper.join(ENOUGH_MS);
        ConfirmedOperation operation = new ConfirmedOperation(SOON_MS);
        boolean completed = purgatory.tryCompleteElseWatch(operation, List.of(KEY));
        Observation seen = new Observation(
                !reaper.isAlive() && !completed && purgatory.numDelayed() == 1,
                "one advanceClock raised, and the reaper is " + reaper.getState()
                        + "; an operation was watched afterwards, numDelayed() is "
                        + purgatory.numDelayed() + ", and nobody advances");
        purgatory.shutdown();
        timer.close();
        return seen;
    }

    private static void holding(List<Object> monitors, int from, Step step) throws Exception {
        if (from == monitors.size()) {
            step.run();
            return;
        }
        synchronized (monitors.get(from)) {
            holding(monitors, from + 1, step);
        }
    }
}
