package org.apache.kafka.server.purgatory;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.apache.kafka.server.util.timer.VirtualTimer;
import wheelproof.kafka.Component;
import wheelproof.kafka.Json;
import wheelproof.kafka.Purgatories;

/**
 * Kafka's DelayedOperationPurgatory over a timer on a virtual clock.
 *
 * <p>What the timer submits runs when the call is over, as it may on SystemTimer's executor.
 */
public final class PurgatoryComponent implements Component {
    private static final int BROKER_ID = 0;

    private record Config(long tick_ms, int wheel_size, long start_ms, int purge_interval) {}

    private record TryCompleteElseWatch(
            String operation, long delay_ms, List<String> keys, Set<String> conditions) {}

    private record Condition(String condition) {}

    private record OfKey(String key) {}

    private record OfOperation(String operation) {}

    private record Advance(long to_ms) {}

    private record Key(String keyLabel) implements DelayedOperationKey {}

    private final Set<String> conditionsThatHold = new HashSet<>();
    private final Map<String, NamedOperation> operations = new HashMap<>();
    private final Queue<Runnable> submitted = new ArrayDeque<>();
    private List<String> completed = new ArrayList<>();
    private List<String> expired = new ArrayList<>();
    private VirtualTimer timer;
    private DelayedOperationPurgatory<NamedOperation> purgatory;
    private List<Collection<?>> watchers;

    @Override
    public void reset(JsonNode config) throws JsonProcessingException {
        Config read = Json.as(Config.class, config);
        conditionsThatHold.clear();
        operations.clear();
        submitted.clear();
        timer = new VirtualTimer(
                read.tick_ms, read.wheel_size, read.start_ms, submitted::add);
        purgatory = new DelayedOperationPurgatory<>(
                "driven", timer, BROKER_ID, read.purge_interval, false, true);
        watchers = Purgatories.watchers(purgatory);
    }

    @Override
    public Map<String, Object> perform(String operation, JsonNode args) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>(call(operation, args));
        for (Runnable task = submitted.poll(); task != null; task = submitted.poll()) {
            task.run();
        }
        answer.put("on_complete", completed);
        answer.put("on_expiration", expired);
        completed = new ArrayList<>();
        expired = new ArrayList<>();
        return answer;
    }

    private Map<String, Object> call(String operation, JsonNode args) throws Exception {
        switch (operation) {
            case "try_complete_else_watch" -> {
                TryCompleteElseWatch watch = Json.as(TryCompleteElseWatch.class, args);
                NamedOperation handedIn = new NamedOperation(
                        watch.operation, watch.delay_ms,
                        () -> watch.conditions.stream().anyMatch(conditionsThatHold::contains),
                        name -> completed.add(name), name -> expired.add(name));
                operations.put(watch.operation, handedIn);
                List<Key> keys = watch.keys.stream().map(Key::new).toList();
                return Map.of("completed", purgatory.tryCompleteElseWatch(handedIn, keys));
            }
            case "set_condition" -> {
                conditionsThatHold.add(Json.as(Condition.class, args).condition);
                return Map.of();
            }
            case "check_and_complete" -> {
                Key key = new Key(Json.as(OfKey.class, args).key);
                return Map.of("count", purgatory.checkAndComplete(key));
            }
            case "force_complete" -> {
                String name = Json.as(OfOperation.class, args).operation;
                return Map.of("completed", operations.get(name).forceComplete());
            }
            case "cancel_for_key" -> {
                Key key = new Key(Json.as(OfKey.class, args).key);
                var cancelled = purgatory.cancelForKey(key);
                return Map.of("cancelled", cancelled.stream().map(NamedOperation::name).toList());
            }
            case "advance" -> {
                timer.setTime(Json.as(Advance.class, args).to_ms);
                Purgatories.reap(purgatory);
                return Map.of();
            }
            case "ask_gauges" -> {
                return Map.of(
                        "watched", purgatory.watched(),
                        "num_delayed", purgatory.numDelayed(),
                        "num_keys", Purgatories.numKeys(watchers));
            }
            default -> throw Component.unknown(operation);
        }
    }
}
