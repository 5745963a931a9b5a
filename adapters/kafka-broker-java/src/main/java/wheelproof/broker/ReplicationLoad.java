package wheelproof.broker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import wheelproof.recording.Callers;
import wheelproof.recording.Recorder;
import wheelproof.recording.Recording;
import wheelproof.recording.Work;
import wheelproof.recording.WorkLoad;

/** Callers that produce, consume and replicate; with elections the broker loses partitions, too. */
final class ReplicationLoad implements WorkLoad {
    private static final int BROKER = 1;
    private static final List<String> PARTITIONS = List.of("a", "b", "c");
    private static final List<Integer> FOLLOWERS = List.of(2, 3);
    private static final List<Integer> REPLICAS = List.of(BROKER, 2, 3);
    private static final int SEGMENT_BYTES = 300;
    private static final int MIN_IN_SYNC = 2;
    private static final int LONGEST_WAIT_MS = 50;
    private static final int RECORD_BYTES = 10;
    private static final int PLENTY = 1_000;
    private static final int MANY_BYTES = 30;
    private static final int LATENESS_MS = 1_000;
    private static final int ALL_ACKS = -1;

    /** What a broker does with its callers. */
    private interface Using {
        void use() throws Exception;
    }

    private final boolean elections;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<String, Integer> epochs = new ConcurrentHashMap<>();
    private final Map<List<?>, Long> cursors = new ConcurrentHashMap<>();
    private KafkaBroker broker;
    private Recorder recorder;

    ReplicationLoad(boolean elections) {
        this.elections = elections;
    }

    @Override
    public Map<String, ?> config() {
        return Map.of(
                "broker_id", BROKER, "segment_bytes", SEGMENT_BYTES,
                "min_in_sync_replicas", MIN_IN_SYNC, "replica_lag_time_max_ms", LONGEST_WAIT_MS,
                "lateness_ms", LATENESS_MS);
    }

    @Override
    public String refusal(Exception error) {
        return null;
    }

    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        KafkaBroker.Settings settings = new KafkaBroker.Settings(
                BROKER, Batches.SCALE * SEGMENT_BYTES, MIN_IN_SYNC, LONGEST_WAIT_MS);
        use(recorder, settings, () -> {
            for (String partition : PARTITIONS) {
                lead(partition, REPLICAS);
            }
            callers.act((dice, caller) -> act(dice));
        });
    }

    @Override
    public List<String> capabilities() {
        List<String> calls = new ArrayList<>(
                List.of("lead", "produce", "consume", "replicate", "maybe_shrink_in_sync"));
        if (elections) {
            calls.add("lose_and_lead_again");
        }
        return calls;
    }

    @Override
    public Map<String, ?> claims() {
        return Map.of("broker_id", BROKER, "lateness_ms", LATENESS_MS);
    }

    @Override
    public void work(Recorder recorder, Work work) throws Exception {
        JsonNode asked = work.config();
        KafkaBroker.Settings settings = new KafkaBroker.Settings(
                BROKER, Batches.SCALE * asked.get("segment_bytes").asInt(),
                asked.get("min_in_sync_replicas").asInt(),
                asked.get("replica_lag_time_max_ms").asInt());
        use(recorder, settings, () -> work.act(this::perform));
    }

    private void use(Recorder recorder, KafkaBroker.Settings settings, Using using)
            throws Exception {
        this.recorder = recorder;
        try (KafkaBroker made = new KafkaBroker(settings, Time.SYSTEM, SystemTimer::new, true)) {
            broker = made;
            using.use();
            Recording.awaitQuiet(() -> broker.numDelayed() == 0);
            broker.produces.shutdown();
            broker.fetches.shutdown();
            look();
        }
    }

    private void perform(JsonNode step) throws Exception {
        JsonNode args = step.get("args");
        String partition = args.path("partition").asText();
        List<String> some = new ArrayList<>();
        args.path("partitions").forEach(name -> some.add(name.asText()));
        switch (step.get("op").asText()) {
            case "lead" -> {
                List<Integer> inSync = new ArrayList<>(List.of(BROKER));
                args.get("in_sync").forEach(replica -> inSync.add(replica.asInt()));
                lead(partition, inSync);
            }
            case "lose_and_lead_again" ->
                    loseAndLeadAgain(partition, args.get("records").asInt());
            case "produce" -> produce(
                    some, args.get("required_acks").asInt(), args.get("timeout_ms").asInt(),
                    args.get("sizes").size());
            case "consume" -> consume(
                    some, args.get("max_wait_ms").asInt(), args.get("min_bytes").asInt());
            case "replicate" -> replicate(
                    args.get("follower").asInt(), partition, args.get("max_wait_ms").asInt());
            default -> shrink();
        }
    }

    private void act(SplittableRandom dice) throws Exception {
        int choice = dice.nextInt(100);
        String partition = PARTITIONS.get(dice.nextInt(PARTITIONS.size()));
        int waitMs = 1 + dice.nextInt(LONGEST_WAIT_MS - 1);
        String next = PARTITIONS.get((PARTITIONS.indexOf(partition) + 1) % PARTITIONS.size());
        List<String> some = dice.nextBoolean() ? List.of(partition) : List.of(partition, next);
        if (elections && choice < 1) {
            loseAndLeadAgain(partition, dice.nextInt(3));
        } else if (choice < 2) {
            shrink();
        } else if (choice < 25) {
            produce(some, ALL_ACKS, waitMs, 1 + dice.nextInt(2));
        } else if (choice < 35) {
            produce(some, 1, waitMs, 1);
        } else if (choice < 55) {
            consume(some, waitMs, dice.nextBoolean() ? 1 : MANY_BYTES);
        } else {
            int follower = FOLLOWERS.get(dice.nextInt(FOLLOWERS.size()));
            replicate(follower, partition, dice.nextBoolean() ? 0 : waitMs);
        }
    }

    private void shrink() throws Exception {
        control("maybe_shrink_in_sync", Map.of(), broker::maybeShrinkInSync);
    }

    private void replicate(int follower, String partition, int waitMs) throws Exception {
        long offset = cursors.getOrDefault(List.of(follower, partition), 0L);
        fetch(OptionalInt.of(follower), Map.of(partition, offset), waitMs, 1);
    }

    private void lead(String partition, List<Integer> inSync) throws Exception {
        int epoch = nextEpoch(partition);
        control("become_leader",
                Map.of("partition", partition, "leader_epoch", epoch,
                        "replica_ids", REPLICAS, "in_sync_ids", inSync),
                () -> broker.elect(partition, BROKER, epoch, REPLICAS, inSync));
    }

    /** Follows somebody else, drops the batch of a record near the end, and leads again. */
    private synchronized void loseAndLeadAgain(String partition, int records) throws Exception {
        int epoch = nextEpoch(partition);
        int leader = FOLLOWERS.get(0);
        control("become_follower",
                Map.of("partition", partition, "leader_epoch", epoch, "leader_id", leader),
                () -> broker.elect(
                        partition, leader, epoch, List.of(BROKER, leader), List.of(leader)));
        UnifiedLog log = broker.log(partition);
        long back = Math.max(log.logEndOffset() - records, 0);
        long offset = log.read(back, 1, FetchIsolation.LOG_END, true)
                .fetchOffsetMetadata.messageOffset;
        control("truncate_as_follower", Map.of("partition", partition, "offset", offset),
                () -> broker.truncate(partition, offset));
        lead(partition, REPLICAS);
    }

    private int nextEpoch(String partition) {
        return epochs.merge(partition, 0, (epoch, zero) -> epoch + 1);
    }

    private void control(String f, Map<String, ?> asked, Runnable call) throws Exception {
        recorder.call(f, asked, () -> {
            call.run();
            return Map.of();
        });
    }

    private void produce(List<String> partitions, int acks, int timeoutMs, int records)
            throws Exception {
        String name = "p" + numbers.incrementAndGet();
        List<Map<String, ?>> entries = new ArrayList<>();
        Map<String, MemoryRecords> batches = new LinkedHashMap<>();
        for (String partition : partitions) {
            List<Batches.Content> contents = new ArrayList<>();
            for (int i = 0; i < records; i++) {
                contents.add(new Batches.Content(RECORD_BYTES, name + partition + i));
            }
            entries.add(Map.of("partition", partition, "records", contents.stream()
                    .map(one -> Map.of("size", one.size(), "value", one.value())).toList()));
            batches.put(partition, Batches.batch(contents, Time.SYSTEM.milliseconds()));
        }
        control("append_records",
                Map.of("request", name, "required_acks", acks, "timeout_ms", timeoutMs,
                        "entries", entries),
                () -> broker.append(timeoutMs, acks, batches, answers -> recorder.happens(
                        "produce_response",
                        Map.of("request", name,
                                "partitions", ReplicationComponent.producedParts(answers)))));
    }

    /** Waits as a consumer that has read all that it may. */
    private void consume(List<String> partitions, int waitMs, int minBytes) throws Exception {
        Map<String, Long> places = new LinkedHashMap<>();
        for (String partition : partitions) {
            places.put(partition, broker.log(partition).highWatermark());
        }
        fetch(OptionalInt.empty(), places, waitMs, minBytes);
    }

    private void fetch(OptionalInt replica, Map<String, Long> offsets, int waitMs, int minBytes)
            throws Exception {
        String name = "f" + numbers.incrementAndGet();
        Map<String, FetchRequest.PartitionData> places = new LinkedHashMap<>();
        List<Map<String, ?>> asked = new ArrayList<>();
        offsets.forEach((partition, offset) -> {
            places.put(partition, KafkaBroker.place(
                    partition, offset, Batches.SCALE * PLENTY, Optional.empty(), Optional.empty()));
            asked.add(Map.of(
                    "partition", partition, "fetch_offset", offset, "max_bytes", PLENTY));
        });
        Map<String, Object> request = new LinkedHashMap<>(Map.of(
                "request", name, "max_wait_ms", waitMs, "min_bytes", minBytes,
                "max_bytes", PLENTY, "partitions", asked));
        replica.ifPresent(follower -> request.put("replica_id", follower));
        control("fetch_messages", request, () -> broker.fetch(
                KafkaBroker.params(
                        replica, waitMs, Batches.SCALE * minBytes, Batches.SCALE * PLENTY),
                places, answers -> take(name, replica, places, answers)));
    }

    /** Writes an answer down, and notes how far a follower has come by it. */
    private void take(
            String name, OptionalInt replica, Map<String, FetchRequest.PartitionData> places,
            Map<String, FetchPartitionData> answers) {
        List<Map<String, ?>> parts = ReplicationComponent.fetchedParts(answers, places, true);
        recorder.happens("fetch_response", Map.of("request", name, "partitions", parts));
        replica.ifPresent(follower -> parts.forEach(part -> {
            String partition = (String) part.get("partition");
            boolean refused = !part.get("error").equals("NONE");
            int read = ((List<?>) part.get("records")).size();
            cursors.put(List.of(follower, partition),
                    refused ? 0 : places.get(partition).fetchOffset + read);
        }));
    }

    /** Looks at every log, and at both purgatories without what is done in their lists. */
    private void look() throws Exception {
        for (String partition : epochs.keySet()) {
            recorder.call("read_log", Map.of("partition", partition),
                    () -> Map.of("records", content(broker.log(partition))));
        }
        recorder.call("num_delayed", Map.of(), () -> Map.of("count", broker.numDelayed()));
        recorder.call("purge_completed", Map.of(), () -> {
            broker.purge();
            return Map.of();
        });
        recorder.call("watched", Map.of(), () -> Map.of("count", broker.watched()));
        recorder.call("num_keys", Map.of(), () -> Map.of("count", broker.numKeys()));
    }

    private static List<Map<String, ?>> content(UnifiedLog log) throws IOException {
        List<Map<String, ?>> found = new ArrayList<>();
        while (found.size() < log.logEndOffset()) {
            Records next = (Records) log.read(
                    found.size(), Batches.SCALE * PLENTY, FetchIsolation.LOG_END, true).records;
            found.addAll(Batches.contents(next, found.size(), true));
        }
        return found;
    }
}
