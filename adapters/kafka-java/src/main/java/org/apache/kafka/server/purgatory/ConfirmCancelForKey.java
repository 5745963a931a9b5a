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

import java.util.List;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Gate;

/** What cancelForKey has returned, and what becomes of it. */
final class ConfirmCancelForKey {
    private ConfirmCancelForKey() {}

    /** The operation's monitor is taken before the adder binds it to an entry. */
    static Observation whileAdded(PurgatorySetting in) throws Exception {
        ConfirmedOperation operation = new ConfirmedOperation(SOON_MS);
        List<ConfirmedOperation> cancelled;
        Thread adder;
        synchronized (operation) {
            adder = start(() -> in.watch(operation, KEY));
            Thread blocked = adder;
            await("the adder waits for the operation",
                    () -> blocked.getState() == Thread.State.BLOCKED);
            cancelled = in.purgatory.cancelForKey(KEY);
        }
        join(adder);
        return expiresAll(operation, cancelled);
    }

    static Observation whileSubmitted(PurgatorySetting in) throws Exception {
        Gate gate = new Gate();
        in.keepExecutorBusy(gate);
        ConfirmedOperation operation = new ConfirmedOperation(SOON_MS);
        in.watch(operation, KEY);
        await("it has been submitted", () -> in.purgatory.numDelayed() == 0);
        List<ConfirmedOperation> cancelled = in.purgatory.cancelForKey(KEY);
        gate.open();
        return expiresAll(operation, cancelled);
    }

    private static Observation expiresAll(
            ConfirmedOperation operation, List<ConfirmedOperation> cancelled) throws Exception {
        boolean expired = holdsWithin(ENOUGH_MS, operation::hasExpired);
        return new Observation(
                cancelled.contains(operation) && expired,
                "cancelForKey had returned " + cancelled.size() + " operation; onComplete ran: "
                        + operation.hasCompleted() + ", onExpiration ran: " + expired);
    }

    /** A trigger has fetched the list and asks the operation while the key is cancelled. */
    static Observation whileTried(PurgatorySetting in) throws Exception {
        ConfirmedOperation operation = new ConfirmedOperation(LATER_MS);
        in.watch(operation, KEY);
        Gate gate = new Gate();
        operation.completesWhen(() -> {
            gate.pass();
            return true;
        });
        Thread trigger = start(() -> in.purgatory.checkAndComplete(KEY));
        gate.awaitArrival();
        List<ConfirmedOperation> cancelled = in.purgatory.cancelForKey(KEY);
        boolean before = operation.isCompleted();
        gate.open();
        join(trigger);
        return new Observation(
                cancelled.contains(operation) && !before && operation.hasCompleted(),
                "cancelForKey had returned " + cancelled.size() + " operation that was not "
                        + "completed; onComplete ran afterwards: " + operation.hasCompleted());
    }

    static Observation underOneKey(PurgatorySetting in) throws Exception {
        ConfirmedOperation operation = new ConfirmedOperation(SOON_MS);
        in.watch(operation, KEY, OTHER);
        List<ConfirmedOperation> cancelled = in.purgatory.cancelForKey(KEY);
        boolean ended = holdsWithin(SOON_MS + PASSES_MS, operation::isCompleted);
        int watched = in.purgatory.watched();
        operation.completesWhen(() -> true);
        int completed = in.purgatory.checkAndComplete(OTHER);
        return new Observation(
                cancelled.contains(operation) && !ended && watched == 1 && completed == 1,
                "cancelForKey of one of two keys returned the operation; " + PASSES_MS
                        + " ms after its time-out it is completed: " + ended + ", watched() is "
                        + watched + "; a trigger of the other key then completed " + completed);
    }

    static Observation thoughCompleted(PurgatorySetting in) {
        ConfirmedOperation operation = new ConfirmedOperation(LATER_MS);
        in.watch(operation, KEY);
        boolean completed = operation.forceComplete();
        List<ConfirmedOperation> cancelled = in.purgatory.cancelForKey(KEY);
        return new Observation(
                completed && cancelled.contains(operation),
                "forceComplete had returned " + completed + " and onComplete had run; cancelForKey "
                        + "returned the operation: " + cancelled.contains(operation));
    }
}
