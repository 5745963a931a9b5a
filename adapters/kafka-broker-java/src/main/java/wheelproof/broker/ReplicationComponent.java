package wheelproof.broker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.VirtualTimer;
import wheelproof.kafka.Component;
import wheelproof.kafka.VirtualTime;

/** Kafka's ReplicaManager on a clock that the caller moves. */
final class ReplicationComponent implements Component {
    /** What the clock of a broker shows is not near 0, which means never to it. */
    private static final long EPOCH_MS = 1_000_000_000_000L;
    private static final int TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;

    private final Queue<TimerTask> submitted = new ArrayDeque<>();
    private final List<VirtualTimer> timers = new ArrayList<>();
    private List<Map<String, ?>> produced = new ArrayList<>();
    private List<Map<String, ?>> fetched = new ArrayList<>();
    private VirtualTime time;
    private KafkaBroker broker;

    @Override
    public void reset(JsonNode config) throws IOException {
        close();
        submitted.clear();
        timers.clear();
        long startMs = config.path("start_ms").asLong();
        time = new VirtualTime(EPOCH_MS + startMs);
        KafkaBroker.Settings settings = new KafkaBroker.Settings(
                config.path("broker_id").asInt(),
                Batches.SCALE * config.path("segment_bytes").asInt(),
                config.path("min_in_sync_replicas").asInt(),
                config.path("replica_lag_time_max_ms").asInt());
        broker = new KafkaBroker(settings, time, name -> newTimer(startMs), false);
    }

    private VirtualTimer newTimer(long startMs) {
        VirtualTimer timer = new VirtualTimer(TICK_MS, WHEEL_SIZE, startMs, submitted::add);
        timers.add(timer);
        return timer;
    }

    void close() {
        if (broker != null) {
            broker.close();
            broker = null;
        }
    }

    @Override
    public Map<String, Object> perform(String operation, JsonNode args) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>(call(operation, args));
        for (TimerTask task = submitted.poll(); task != null; task = submitted.poll()) {
            task.run();
        }
        answer.put("produced", produced);
        answer.put("fetched", fetched);
        answer.put("num_delayed", broker.numDelayed());
        produced = new ArrayList<>();
        fetched = new ArrayList<>();
        return answer;
    }

    private Map<String, Object> call(String operation, JsonNode args) throws Exception {
        String partition = args.path("partition").asText();
        int epoch = args.path("leader_epoch").asInt();
        switch (operation) {
            case "become_leader" -> broker.elect(
                    partition, broker.id(), epoch, numbers(args.path("replica_ids")),
                    numbers(args.path("in_sync_ids")));
            case "become_follower" -> {
                int leader = args.path("leader_id").asInt();
                broker.elect(partition, leader, epoch, List.of(broker.id(), leader), List.of(leader));
            }
            case "stop_replica" -> broker.delete(partition);
            case "truncate_as_follower" ->
                    broker.truncate(partition, args.path("offset").asLong());
            case "maybe_shrink_in_sync" -> broker.maybeShrinkInSync();
            case "append_records" -> append(args);
            case "fetch_messages" -> fetch(args);
            case "purge_completed" -> {
                return purge();
            }
            case "advance" -> {
                long toMs = args.path("to_ms").asLong();
                time.setTime(EPOCH_MS + toMs);
                timers.forEach(timer -> timer.setTime(toMs));
                broker.reap();
            }
            default -> throw Component.unknown(operation);
        }
        return Map.of();
    }

    private void append(JsonNode args) {
        String request = args.path("request").asText();
        Map<String, MemoryRecords> entries = new LinkedHashMap<>();
        for (JsonNode entry : args.path("entries")) {
            List<Batches.Content> records = new ArrayList<>();
            entry.path("records").forEach(
                    record -> records.add(new Batches.Content(record.path("size").asInt(), "")));
            MemoryRecords batch = Batches.batch(records, time.milliseconds());
            requireNew(entries.put(entry.path("partition").asText(), batch));
        }
        broker.append(
                args.path("timeout_ms").asLong(), args.path("required_acks").asInt(), entries,
                answers -> produced.add(
                        Map.of("request", request, "partitions", producedParts(answers))));
    }

    static List<Map<String, ?>> producedParts(Map<TopicIdPartition, PartitionResponse> answers) {
        List<Map<String, ?>> parts = new ArrayList<>();
        answers.forEach((partition, answer) -> parts.add(Map.of(
                "partition", partition.topic(),
                "error", answer.error.name(),
                "base_offset", answer.baseOffset)));
        return parts;
    }

    private void fetch(JsonNode args) {
        String request = args.path("request").asText();
        Map<String, FetchRequest.PartitionData> places = new LinkedHashMap<>();
        for (JsonNode place : args.path("partitions")) {
            String name = place.path("partition").asText();
            requireNew(places.put(name, KafkaBroker.place(
                    name, place.path("fetch_offset").asLong(),
                    Batches.SCALE * place.path("max_bytes").asInt(),
                    optional(place.path("current_leader_epoch")),
                    optional(place.path("last_fetched_epoch")))));
        }
        JsonNode replica = args.path("replica_id");
        broker.fetch(
                KafkaBroker.params(
                        replica.isInt() ? OptionalInt.of(replica.asInt()) : OptionalInt.empty(),
                        args.path("max_wait_ms").asLong(),
                        Batches.SCALE * args.path("min_bytes").asInt(),
                        Batches.SCALE * args.path("max_bytes").asInt()),
                places,
                answers -> fetched.add(Map.of(
                        "request", request, "partitions", fetchedParts(answers, places, false))));
    }

    static List<Map<String, ?>> fetchedParts(
            Map<String, FetchPartitionData> answers, Map<String, FetchRequest.PartitionData> places,
            boolean valued) {
        List<Map<String, ?>> parts = new ArrayList<>();
        answers.forEach((name, answer) -> {
            Map<String, Object> part = new LinkedHashMap<>();
            part.put("partition", name);
            part.put("error", answer.error.name());
            part.put("high_watermark", answer.highWatermark);
            long from = places.get(name).fetchOffset;
            part.put("records", Batches.contents(answer.records, from, valued));
            answer.divergingEpoch.ifPresent(end -> part.put("diverging_epoch", Map.of(
                    "leader_epoch", end.epoch(), "end_offset", end.endOffset())));
            parts.add(part);
        });
        return parts;
    }

    private static void requireNew(Object before) {
        if (before != null) {
            throw new IllegalArgumentException("a request names a partition once");
        }
    }

    private static Optional<Integer> optional(JsonNode number) {
        return number.isInt() ? Optional.of(number.asInt()) : Optional.empty();
    }

    private static List<Integer> numbers(JsonNode nodes) {
        return StreamSupport.stream(nodes.spliterator(), false).map(JsonNode::asInt).toList();
    }

    private Map<String, Object> purge() {
        broker.purge();
        return Map.of("watched", broker.watched(), "num_keys", broker.numKeys());
    }
}
