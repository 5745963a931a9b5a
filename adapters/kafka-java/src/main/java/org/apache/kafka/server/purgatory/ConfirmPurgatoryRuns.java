package org.apache.kafka.server.purgatory;

import static org.apache.kafka.server.purgatory.PurgatorySetting.with;

import wheelproof.kafka.Confirmation;
import wheelproof.kafka.KafkaVersion;

/**
 * Repeats the counterexamples about DelayedOperationPurgatory, with its reaper and SystemTimer.
 *
 * <p>All of them run as released. Threads are stopped by the monitors that others may hold as
 * well, and in the predicates and callbacks of operations, which are their users' own code.
 */
final class ConfirmPurgatoryRuns {
    private ConfirmPurgatoryRuns() {}

    public static void main(String[] arguments) throws Exception {
        new Confirmation()
                .with("timeout-half-added", with(ConfirmWatching::halfAdded))
                .with("estimate-overwritten", with(ConfirmWatching::estimateOverwritten))
                .with("expires-after-cancel-added", with(ConfirmCancelForKey::whileAdded))
                .with("expires-after-cancel-submitted", with(ConfirmCancelForKey::whileSubmitted))
                .with("completes-after-cancel", with(ConfirmCancelForKey::whileTried))
                .with("stays-after-cancel", with(ConfirmCancelForKey::underOneKey))
                .with("cancelled-though-completed", with(ConfirmCancelForKey::thoughCompleted))
                .with("stop-at-error", with(ConfirmWatching::stopAtError))
                .with("left-at-error", with(ConfirmWatching::leftAtError))
                .with("watched-after-shutdown",
                        with(ConfirmWatching::watchedAfterShutdown))
                .with("reaper-ends-at-error", ConfirmWatching::reaperEndsAtError)
                .with("exclusive-expiry", with(ConfirmExclusiveExpiry::delaysOthers))
                .with("callbacks-deadlock", with(ConfirmExclusiveExpiry::callbacks))
                .with("callbacks-deadlock-queued", with(ConfirmExclusiveExpiry::queuedCallbacks))
                // The last one: its threads never end.
                .with("expiry-callback-deadlock", ConfirmExclusiveExpiry::groupDeadlock)
                .run(KafkaVersion.read());
    }
}
