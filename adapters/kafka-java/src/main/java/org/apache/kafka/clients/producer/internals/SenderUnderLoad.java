package org.apache.kafka.clients.producer.internals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.ReadyCheckResult;
import org.apache.kafka.common.Node;
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
    private final Map<Integer, Integer> leaders = new HashMap<>();
    private final MetadataSnapshot cluster;
    private final List<String> partitions;
    private final Map<Integer, Long> nextOffsets = new HashMap<>();
    private final Map<ProducerBatch, String> names = new IdentityHashMap<>();
    private final List<ProducerBatch> inFlight = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "sender");
    private int looks;
    private ReadyCheckResult ready;
    private List<ProducerBatch> taken = List.of();
    private Exception failure;
    private volatile boolean finishing;
    private volatile boolean aborting;

    SenderUnderLoad(RecordAccumulator accumulator, Recorder recorder, long seed) {
        this.accumulator = accumulator;
        this.recorder = recorder;
        dice = new SplittableRandom(seed);
        for (int i = 0; i < AccumulatorLoad.PARTITIONS; i++) {
            leaders.put(i, NODE);
        }
        cluster = Clusters.cluster(leaders);
        partitions = leaders.keySet().stream().map(AccumulatorLoad::name).toList();
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
            while (!aborting && (!finishing || accumulator.hasIncomplete())) {
                send();
                LockSupport.parkNanos(dice.nextLong(PAUSE_NS));
                answer();
                expire();
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

    private void send() throws Exception {
        look();
        long nowMs = Time.SYSTEM.milliseconds();
        var asked = Map.of("node", NODE, "max_size", MOST_BYTES, "partitions",
                ready.readyNodes.isEmpty() ? List.of() : partitions);
        recorder.call("drain", asked, () -> {
            var drained = accumulator.drain(cluster, ready.readyNodes, MOST_BYTES, nowMs);
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

    /** Asks what is ready; now and then the leader of a partition is not known. */
    private void look() throws Exception {
        Map<Integer, Integer> known = new HashMap<>(leaders);
        known.remove(looks++ % LOOKS_A_ROUND);
        Map<String, Integer> named = new HashMap<>();
        known.forEach((partition, node) -> named.put(AccumulatorLoad.name(partition), node));
        recorder.call("ready", Map.of("leaders", named), () -> {
            ready = accumulator.ready(Clusters.cluster(known), Time.SYSTEM.milliseconds());
            return Map.of(
                    "ready_nodes", ready.readyNodes.stream().map(Node::id).sorted().toList(),
                    "unknown_leader_topics", ready.unknownLeaderTopics.stream().sorted().toList(),
                    "next_ready_check_delay_ms", ready.nextReadyCheckDelayMs);
        });
    }

    /** A few responses come late, when more has been drained. */
    private void answer() throws Exception {
        for (ProducerBatch batch : List.copyOf(inFlight)) {
            if (dice.nextInt(3) > 0) {
                inFlight.remove(batch);
                batch.setInflight(false);
                answer(batch, dice.nextInt(100));
                asSender("unmute", partition(batch),
                        () -> accumulator.unmutePartition(batch.topicPartition));
            }
        }
    }

    private void answer(ProducerBatch batch, int outcome) throws Exception {
        if (outcome < 10 && !batch.isDone()) {
            asSender("reenqueue", named(batch),
                    () -> accumulator.reenqueue(batch, Time.SYSTEM.milliseconds()));
        } else if (outcome < 15) {
            RuntimeException error = new InvalidRequestException("as the load wants it");
            asSender("respond", named(batch),
                    () -> end(batch, batch.completeExceptionally(error, number -> error)));
        } else {
            store(batch);
        }
    }

    private void store(ProducerBatch batch) throws Exception {
        long offset = nextOffsets.getOrDefault(batch.topicPartition.partition(), 0L);
        nextOffsets.put(batch.topicPartition.partition(), offset + batch.recordCount);
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
        return Map.of("partition", AccumulatorLoad.name(batch.topicPartition.partition()));
    }

    private static void fail(ProducerBatch batch) {
        RuntimeException error = new TimeoutException("as the clock wants it");
        batch.completeExceptionally(error, number -> error);
    }
}
