package org.apache.kafka.server.purgatory;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import wheelproof.recording.Callers;
import wheelproof.recording.Load;
import wheelproof.recording.Recorder;
import wheelproof.recording.Recording;

/** Callers that hand in operations, trigger keys, complete by force; the rest expires. */
public final class PurgatoryLoad implements Load {
    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;
    private static final int PURGE_INTERVAL = 100;
    private static final int KEYS = 12;
    private static final int RECENT = 64;
    private static final long LONGEST_DELAY_MS = 300;
    private static final long LATENESS_MS = 1_000;

    private record Key(String keyLabel) implements DelayedOperationKey {}

    private final SystemTimer timer = new SystemTimer(
            "record", TICK_MS, WHEEL_SIZE, Time.SYSTEM.hiResClockMs());
    private final DelayedOperationPurgatory<Operation> purgatory =
            new DelayedOperationPurgatory<>("record", timer, 0, PURGE_INTERVAL, true, true);
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicReferenceArray<Operation> recent = new AtomicReferenceArray<>(RECENT);
    private Recorder recorder;

    @Override
    public Map<String, ?> config() {
        return Map.of(
                "purge_interval", PURGE_INTERVAL, "tick_ms", TICK_MS, "lateness_ms", LATENESS_MS,
                "predicates", "recorded", "attempts", "exclusive", "cancels", "timeout");
    }

    @Override
    public Map<String, ?> referencePromises() {
        return Map.of("cancels", "operation", "timeouts", "end_with_operation");
    }

    @Override
    public String refusal(Exception error) {
        return null;
    }

    /** Shutdown lets the executor end what was submitted. */
    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        this.recorder = recorder;
        callers.act((dice, caller) -> act(dice));
        Recording.awaitQuiet(() -> purgatory.numDelayed() == 0);
        purgatory.shutdown();
    }

    private void act(SplittableRandom dice) throws Exception {
        int choice = dice.nextInt(100);
        Operation known = recent.get(dice.nextInt(RECENT));
        if (choice < 45 || known == null) {
            handIn(dice);
        } else if (choice < 80) {
            trigger(known);
        } else if (choice < 90) {
            force(known);
        } else if (choice < 92) {
            String key = key(dice.nextInt(KEYS));
            recorder.call("cancel_for_key", Map.of("key", key),
                    () -> cancelled(purgatory.cancelForKey(new Key(key))));
        } else if (choice < 96) {
            recorder.call("watched", Map.of(), () -> count(purgatory.watched()));
        } else {
            recorder.call("num_delayed", Map.of(), () -> count(purgatory.numDelayed()));
        }
    }

    private void handIn(SplittableRandom dice) throws Exception {
        int first = dice.nextInt(KEYS);
        List<String> keys = dice.ints(1 + dice.nextInt(3), 0, KEYS)
                .mapToObj(step -> key((first + step) % KEYS)).distinct().toList();
        Operation operation = new Operation(
                "op" + made.getAndIncrement(), 1 + dice.nextLong(LONGEST_DELAY_MS), keys);
        // Published first: others may complete it while it is being handed in.
        recent.set(dice.nextInt(RECENT), operation);
        Map<String, ?> asked =
                Map.of("operation", operation.name, "keys", keys, "delay_ms", operation.delayMs);
        recorder.call("try_complete_else_watch", asked,
                () -> Map.of("completed", purgatory.tryCompleteElseWatch(
                        operation, keys.stream().map(Key::new).toList())));
    }

    /** First makes the predicate true, then tries the operations of one of its keys. */
    private void trigger(Operation known) throws Exception {
        if (known.claimed.compareAndSet(false, true)) {
            recorder.call("satisfy", known.named(), () -> {
                known.holds = true;
                return Map.of();
            });
        }
        String key = known.keys.get(0);
        recorder.call("check_and_complete", Map.of("key", key),
                () -> count(purgatory.checkAndComplete(new Key(key))));
    }

    private void force(Operation known) throws Exception {
        recorder.call("force_complete", known.named(),
                () -> Map.of("completed", known.forceComplete()));
    }

    private Map<String, ?> cancelled(List<Operation> operations) {
        List<String> names = operations.stream().map(cancelled -> cancelled.name).toList();
        return Map.of("count", names.size(), "cancelled", names);
    }

    private static Map<String, Integer> count(int count) {
        return Map.of("count", count);
    }

    private static String key(int number) {
        return "k" + number;
    }

    /** An operation whose predicate holds from the moment that a caller satisfies it. */
    private final class Operation extends DelayedOperation {
        private final String name;
        private final List<String> keys;
        private final AtomicBoolean claimed = new AtomicBoolean();
        private volatile boolean holds;

        Operation(String name, long delayMs, List<String> keys) {
            super(delayMs);
            this.name = name;
            this.keys = keys;
        }

        Map<String, ?> named() {
            return Map.of("operation", name);
        }

        @Override
        public boolean tryComplete() {
            AtomicBoolean done = new AtomicBoolean();
            recorder.happens("try_complete", named(), () -> done.set(holds && forceComplete()));
            return done.get();
        }

        @Override
        public void onComplete() {
            recorder.happens("on_complete", named(), () -> {});
        }

        @Override
        public void onExpiration() {
            recorder.happens("on_expiration", named());
        }
    }
}
