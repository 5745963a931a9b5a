package wheelproof.recording;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/** Callers that hand in operations, trigger keys, complete by force; the rest expires. */
public final class PurgatoryLoad implements WorkLoad {
    private static final int PURGE_INTERVAL = 100;
    private static final int KEYS = 12;
    private static final int RECENT = 64;
    private static final int DAWDLES_ONE_IN = 16;
    private static final long DAWDLE_NS = 200_000;
    private static final long LONGEST_DELAY_MS = 300;
    private static final long LATENESS_MS = 1_000;

    private final IntFunction<PurgatoryUnderLoad> make;
    private final Map<String, ?> promises;
    private final Map<String, ?> referencePromises;
    private final Map<PurgatoryUnderLoad.Operation, String> handles = new ConcurrentHashMap<>();
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicReferenceArray<Operation> recent = new AtomicReferenceArray<>(RECENT);
    private Recorder recorder;
    private PurgatoryUnderLoad purgatory;

    /** Makes a load for a purgatory that is made for a purge interval when the load begins. */
    public PurgatoryLoad(
            IntFunction<PurgatoryUnderLoad> make, Map<String, ?> promises,
            Map<String, ?> referencePromises) {
        this.make = make;
        this.promises = promises;
        this.referencePromises = referencePromises;
    }

    @Override
    public Map<String, ?> config() {
        Map<String, Object> config = Recorder.fields(
                "purge_interval", PURGE_INTERVAL, "tick_ms", 1, "lateness_ms", LATENESS_MS,
                "predicates", "recorded");
        config.putAll(promises);
        return config;
    }

    @Override
    public Map<String, ?> referencePromises() {
        return referencePromises;
    }

    @Override
    public String refusal(Exception error) {
        return null;
    }

    /** Shutdown lets the executor end what was submitted. */
    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        this.recorder = recorder;
        purgatory = make.apply(PURGE_INTERVAL);
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
        } else if (choice < 92 && purgatory.cancelsKeys()) {
            cancel(key(dice.nextInt(KEYS)));
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
        int number = made.getAndIncrement();
        Operation operation = new Operation(
                "op" + number, number % DAWDLES_ONE_IN == 0 ? DAWDLE_NS : 0,
                1 + dice.nextLong(LONGEST_DELAY_MS), keys);
        int place = dice.nextInt(RECENT);
        handIn(operation, () -> recent.set(place, operation));
    }

    private void handIn(Operation operation, Runnable publish) throws Exception {
        List<String> keys = operation.keys;
        Map<String, ?> asked =
                Map.of("operation", operation.name, "keys", keys, "delay_ms", operation.delayMs);
        recorder.call("try_complete_else_watch", asked, () -> {
            // Made in the call: in Kafka 0.9 its time-out begins then.
            operation.handle = purgatory.operation(operation.delayMs, operation);
            handles.put(operation.handle, operation.name);
            // Published first: others may complete it while it is being handed in.
            publish.run();
            return Map.of("completed", purgatory.tryCompleteElseWatch(operation.handle, keys));
        });
    }

    @Override
    public List<String> capabilities() throws Exception {
        List<String> calls = new ArrayList<>(List.of(
                "try_complete_else_watch", "satisfy", "check_and_complete", "force_complete",
                "watched", "num_delayed"));
        PurgatoryUnderLoad asked = make.apply(PURGE_INTERVAL);
        if (asked.cancelsKeys()) {
            calls.add("cancel_for_key");
        }
        asked.shutdown();
        return calls;
    }

    @Override
    public Map<String, ?> claims() {
        return promises;
    }

    @Override
    public void work(Recorder recorder, Work work) throws Exception {
        this.recorder = recorder;
        purgatory = make.apply(work.config().get("purge_interval").asInt());
        Map<String, Operation> operations = new ConcurrentHashMap<>();
        work.act(step -> perform(step, operations));
        Recording.awaitQuiet(() -> purgatory.numDelayed() == 0);
        purgatory.shutdown();
    }

    private void perform(JsonNode step, Map<String, Operation> operations) throws Exception {
        JsonNode args = step.get("args");
        String name = args.path("operation").asText();
        Operation known = operations.get(name);
        switch (step.get("op").asText()) {
            case "try_complete_else_watch" -> {
                List<String> keys = new ArrayList<>();
                args.get("keys").forEach(key -> keys.add(key.asText()));
                Operation operation = new Operation(
                        name, step.path("lasts_us").asLong() * 1_000,
                        args.get("delay_ms").asLong(), keys);
                handIn(operation, () -> operations.put(name, operation));
            }
            case "satisfy" -> {
                if (known != null) {
                    satisfy(known);
                }
            }
            case "force_complete" -> {
                if (known != null) {
                    force(known);
                }
            }
            case "check_and_complete" -> check(args.get("key").asText());
            case "cancel_for_key" -> cancel(args.get("key").asText());
            case "watched" -> recorder.call("watched", Map.of(), () -> count(purgatory.watched()));
            default -> recorder.call(
                    "num_delayed", Map.of(), () -> count(purgatory.numDelayed()));
        }
    }

    /** First makes the predicate true, then tries the operations of one of its keys. */
    private void trigger(Operation known) throws Exception {
        if (known.claimed.compareAndSet(false, true)) {
            satisfy(known);
        }
        check(known.keys.get(0));
    }

    private void satisfy(Operation known) throws Exception {
        recorder.call("satisfy", known.named(), () -> {
            known.holds = true;
            return Map.of();
        });
    }

    private void check(String key) throws Exception {
        recorder.call("check_and_complete", Map.of("key", key),
                () -> count(purgatory.checkAndComplete(key)));
    }

    private void cancel(String key) throws Exception {
        recorder.call("cancel_for_key", Map.of("key", key),
                () -> cancelled(purgatory.cancelForKey(key)));
    }

    private void force(Operation known) throws Exception {
        recorder.call("force_complete", known.named(),
                () -> Map.of("completed", known.handle.forceComplete()));
    }

    private Map<String, ?> cancelled(List<PurgatoryUnderLoad.Operation> operations) {
        List<String> names = operations.stream().map(handles::get).toList();
        return Map.of("count", names.size(), "cancelled", names);
    }

    private static Map<String, Integer> count(int count) {
        return Map.of("count", count);
    }

    private static String key(int number) {
        return "k" + number;
    }

    /** An operation whose predicate holds from the moment that a caller satisfies it. */
    private final class Operation implements PurgatoryUnderLoad.Body {
        private final String name;
        private final long delayMs;
        private final long lastsNs;
        private final List<String> keys;
        private final AtomicBoolean claimed = new AtomicBoolean();
        private volatile boolean holds;
        /** Set before others know of the operation. */
        private PurgatoryUnderLoad.Operation handle;

        Operation(String name, long lastsNs, long delayMs, List<String> keys) {
            this.name = name;
            this.lastsNs = lastsNs;
            this.delayMs = delayMs;
            this.keys = keys;
        }

        Map<String, ?> named() {
            return Map.of("operation", name);
        }

        @Override
        public boolean tryComplete(PurgatoryUnderLoad.Operation operation) {
            AtomicBoolean done = new AtomicBoolean();
            recorder.happens("try_complete", named(), () -> {
                boolean found = holds;
                dawdle();
                done.set(found && operation.forceComplete());
            });
            return done.get();
        }

        @Override
        public void onComplete() {
            recorder.happens("on_complete", named(), this::dawdle);
        }

        @Override
        public void onExpiration() {
            recorder.happens("on_expiration", named());
        }

        /** Lets others come to the same operation meanwhile, as a busy machine does. */
        private void dawdle() {
            if (lastsNs > 0) {
                LockSupport.parkNanos(lastsNs);
            }
        }
    }
}
