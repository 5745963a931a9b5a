package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.ReadyCheckResult;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import wheelproof.kafka.Internals;
import wheelproof.recording.Recorder;

/**
 * Kafka's Sender and its broker on one thread: ready, drain, answer, in Sender's order.
 *
 * <p>Of each partition one batch is in flight, as with max.in.flight.requests.per.connection=1.
 */
final class SenderUnderLoad {
    private static final int NODE = 0;
    /** Less than two full batches: some partition is passed over. */
    private static final int MOST_BYTES = 700;
    private static final long PAUSE_NS = 200_000;
    private static final int LOOKS_A_ROUND = 16;

    private final RecordAccumulator accumulator;
    private final Recorder recorder;
    private final SplittableRandom dice;
    private final List<TopicPartition> partitions;
    private final List<JsonNode> steps;
    private final Map<TopicPartition, Long> nextOffsets = new HashMap<>();
    private final Map<ProducerBatch, String> names = new IdentityHashMap<>();
    private final List<ProducerBatch> inFlight = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "sender");
    private int looks;
    private ReadyCheckResult ready;
    private List<ProducerBatch> taken = List.of();
    private Exception failure;
    private volatile boolean finishing;
    private volatile boolean aborting;

    /** Makes a sender that draws what it does. */
    SenderUnderLoad(RecordAccumulator accumulator, Recorder recorder, long seed) {
        this(accumulator, recorder, seed, List.of(), IntStream.range(0, AccumulatorLoad.PARTITIONS)
                .mapToObj(number -> new TopicPartition(Clusters.TOPIC, number)).toList());
    }

    /** Makes a sender that does these steps over and over. */
    SenderUnderLoad(RecordAccumulator accumulator, Recorder recorder, List<JsonNode> steps) {
        this(accumulator, recorder, 0, steps, steps.stream()
                .flatMap(step -> names(step.at("/args/partitions")).stream()).distinct()
                .map(AccumulatorLoad::partition).toList());
    }

    private SenderUnderLoad(
            RecordAccumulator accumulator, Recorder recorder, long seed, List<JsonNode> steps,
            List<TopicPartition> partitions) {
        this.accumulator = accumulator;
        this.recorder = recorder;
        this.steps = steps;
        this.partitions = partitions;
        dice = new SplittableRandom(seed);
    }

    private static List<String> names(JsonNode list) {
        List<String> names = new ArrayList<>();
        list.forEach(name -> names.add(name.asText()));
        return names;
    }

    void start() {
        thread.start();
    }

    /** Lets the sender give up everything, the batches in flight too. */
    void abort() {
        aborting = true;
    }

    /** Lets the sender end what is incomplete, and waits for it. */
    void finish() throws Exception {
        finishing = true;
        thread.join();
        if (failure != null) {
            throw failure;
        }
    }

    private void run() {
        try {
            while (!isOver()) {
                if (steps.isEmpty()) {
                    look(leadersButOne());
                    drain(MOST_BYTES);
                    LockSupport.parkNanos(dice.nextLong(PAUSE_NS));
                    answer();
                    expire();
                }
                for (JsonNode step : steps) {
                    if (!isOver()) {
                        perform(step);
                    }
                }
            }
            if (aborting) {
                asSender("abort", Map.of(), accumulator::abortIncompleteBatches);
                // Their responses come all the same.
                for (ProducerBatch batch : inFlight) {
                    batch.setInflight(false);
                    store(batch);
                }
            }
        } catch (Exception error) {
            failure = error;
            // Nobody is to wait for it.
            accumulator.close();
            accumulator.abortIncompleteBatches();
        }
    }

    private boolean isOver() {
        boolean finished = finishing && !accumulator.hasIncomplete() && inFlight.isEmpty();
        return aborting || finished;
    }

    private void perform(JsonNode step) throws Exception {
        JsonNode args = step.get("args");
        switch (step.get("op").asText()) {
            case "pause" -> LockSupport.parkNanos(args.get("us").asLong() * 1_000);
            case "ready" -> {
                List<String> named = new ArrayList<>();
                args.get("leaders").fieldNames().forEachRemaining(named::add);
                look(named.stream().map(AccumulatorLoad::partition).toList());
            }
            case "drain" -> drain(args.get("max_size").asInt());
            case "respond_to_one" -> {
                if (!inFlight.isEmpty()) {
                    int place = args.get("batch").asInt() % inFlight.size();
                    answer(inFlight.get(place), args.get("answer").asText());
                }
            }
            default -> expire();
        }
    }

    private void drain(int mostBytes) throws Exception {
        long nowMs = Time.SYSTEM.milliseconds();
        var asked = Map.of("node", NODE, "max_size", mostBytes, "partitions",
                ready.readyNodes.isEmpty()
                        ? List.of() : partitions.stream().map(Object::toString).toList());
        recorder.call("drain", asked, () -> {
            var drained = accumulator.drain(
                    cluster(partitions), ready.readyNodes, mostBytes, nowMs);
            taken = drained.getOrDefault(NODE, List.of());
            return Map.of("batches", taken.stream().map(this::described).toList());
        });
        for (ProducerBatch batch : taken) {
            asSender("mute", partition(batch),
                    () -> accumulator.mutePartition(batch.topicPartition));
            batch.setInflight(true);
            inFlight.add(batch);
        }
    }

    /** Now and then the leader of a partition is not known. */
    private List<TopicPartition> leadersButOne() {
        int without = looks++ % LOOKS_A_ROUND;
        return partitions.stream().filter(one -> one.partition() != without).toList();
    }

    /** Asks what is ready, if the leaders of these partitions are known. */
    private void look(List<TopicPartition> known) throws Exception {
        Map<String, Integer> named = new HashMap<>();
        known.forEach(partition -> named.put(partition.toString(), NODE));
        recorder.call("ready", Map.of("leaders", named), () -> {
            ready = accumulator.ready(cluster(known), Time.SYSTEM.milliseconds());
            return Map.of(
                    "ready_nodes", ready.readyNodes.stream().map(Node::id).sorted().toList(),
                    "unknown_leader_topics", ready.unknownLeaderTopics.stream().sorted().toList(),
                    "next_ready_check_delay_ms", ready.nextReadyCheckDelayMs);
        });
    }

    private static MetadataSnapshot cluster(List<TopicPartition> led) {
        Map<Integer, String> topics = new HashMap<>();
        led.forEach(partition -> topics.put(partition.partition(), partition.topic()));
        Map<Integer, Integer> leaders = new HashMap<>();
        topics.keySet().forEach(number -> leaders.put(number, NODE));
        return Clusters.cluster(leaders, topics::get);
    }

    /** A few responses come late, when more has been drained. */
    private void answer() throws Exception {
        for (ProducerBatch batch : List.copyOf(inFlight)) {
            if (dice.nextInt(3) > 0) {
                int outcome = dice.nextInt(100);
                answer(batch, outcome < 10 ? "again" : outcome < 15 ? "failed" : "stored");
            }
        }
    }

    private void answer(ProducerBatch batch, String answer) throws Exception {
        inFlight.remove(batch);
        batch.setInflight(false);
        if (answer.equals("again") && !batch.isDone()) {
            asSender("reenqueue", named(batch),
                    () -> accumulator.reenqueue(batch, Time.SYSTEM.milliseconds()));
        } else if (answer.equals("failed")) {
            RuntimeException error = new InvalidRequestException("as the load wants it");
            asSender("respond", named(batch),
                    () -> end(batch, batch.completeExceptionally(error, number -> error)));
        } else {
            store(batch);
        }
        asSender("unmute", partition(batch),
                () -> accumulator.unmutePartition(batch.topicPartition));
    }

    private void store(ProducerBatch batch) throws Exception {
        long offset = nextOffsets.getOrDefault(batch.topicPartition, 0L);
        nextOffsets.put(batch.topicPartition, offset + batch.recordCount);
        asSender("respond", named(batch),
                () -> end(batch, batch.complete(offset, RecordBatch.NO_TIMESTAMP)));
    }

    private void end(ProducerBatch batch, boolean first) {
        if (first) {
            accumulator.completeAndDeallocateBatch(batch);
        } else {
            accumulator.deallocate(batch);
        }
    }

    /** First what is queued, then what is in flight, which keeps its memory until the response. */
    private void expire() throws Exception {
        asSender("expire", Map.of(), () -> {
            long nowMs = Time.SYSTEM.milliseconds();
            accumulator.expiredBatches(nowMs).forEach(batch -> {
                fail(batch);
                accumulator.completeAndDeallocateBatch(batch);
            });
            for (ProducerBatch batch : inFlight) {
                long timeoutMs = accumulator.getDeliveryTimeoutMs();
                if (!batch.isDone() && batch.hasReachedDeliveryTimeout(timeoutMs, nowMs)) {
                    fail(batch);
                    accumulator.completeBatch(batch);
                }
            }
        });
    }

    private void asSender(String f, Map<String, ?> asked, Runnable call) throws Exception {
        recorder.call(f, asked, () -> {
            call.run();
            return Map.of();
        });
    }

    private Map<String, ?> described(ProducerBatch batch) {
        List<String> records = new ArrayList<>();
        for (Object thunk : (List<?>) Internals.get(ProducerBatch.class, batch, "thunks")) {
            Object callback = Internals.get(thunk.getClass(), thunk, "callback");
            records.add(((AccumulatorLoad.Callback) callback).record());
        }
        return Map.of(
                "batch", name(batch), "partition", partition(batch).get("partition"),
                "records", records);
    }

    private Map<String, String> named(ProducerBatch batch) {
        return Map.of("batch", name(batch));
    }

    private String name(ProducerBatch batch) {
        return names.computeIfAbsent(batch, one -> "b" + names.size());
    }

    private static Map<String, String> partition(ProducerBatch batch) {
        return Map.of("partition", batch.topicPartition.toString());
    }

    private static void fail(ProducerBatch batch) {
        RuntimeException error = new TimeoutException("as the clock wants it");
        batch.completeExceptionally(error, number -> error);
    }
}
