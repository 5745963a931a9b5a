package org.apache.kafka.clients.producer.internals;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.ReadyCheckResult;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.internal.RecordBatch;
import wheelproof.kafka.Internals;
import wheelproof.kafka.VirtualTime;

/** What Kafka's Sender does with the accumulator, step by step, without a network. */
final class DrivenSender {
    private record Request(ProducerBatch batch, ByteBuffer memory, ByteBuffer sent) {}

    private final RecordAccumulator accumulator;
    private final VirtualTime time;
    private final IntFunction<String> topicOf;
    private final Map<String, Request> inFlight = new LinkedHashMap<>();
    private int batchesNamed;

    DrivenSender(
            RecordAccumulator accumulator, VirtualTime time, IntFunction<String> topicOf) {
        this.accumulator = accumulator;
        this.time = time;
        this.topicOf = topicOf;
    }

    Map<String, Object> ready(Map<Integer, Integer> leaders) {
        ReadyCheckResult result =
                accumulator.ready(Clusters.cluster(leaders, topicOf), time.milliseconds());
        return Map.of(
                "ready_nodes", result.readyNodes.stream().map(Node::id).sorted().toList(),
                "unknown_leader_topics", result.unknownLeaderTopics.stream().sorted().toList(),
                "next_ready_check_delay_ms", result.nextReadyCheckDelayMs);
    }

    Map<String, Object> drain(int node, List<Integer> partitions, int maxSize) {
        Map<Integer, Integer> leaders = new HashMap<>();
        partitions.forEach(partition -> leaders.put(partition, node));
        var batches = accumulator.drain(
                Clusters.cluster(leaders, topicOf), Set.of(Clusters.node(node)), maxSize,
                time.milliseconds());
        List<Object> drained = new ArrayList<>();
        for (ProducerBatch batch : batches.get(node)) {
            accumulator.mutePartition(batch.topicPartition);
            batch.setInflight(true);
            String name = "b" + ++batchesNamed;
            ByteBuffer memory = batch.records().buffer();
            inFlight.put(name, new Request(batch, memory, copy(memory)));
            drained.add(Map.of(
                    "batch", name, "partition", batch.topicPartition.partition(),
                    "records", recordsOf(batch)));
        }
        return Map.of("batches", drained);
    }

    void store(String name, long offset) {
        ProducerBatch batch = answered(name);
        end(batch, batch.complete(offset, RecordBatch.NO_TIMESTAMP));
    }

    void fail(String name) {
        ProducerBatch batch = answered(name);
        RuntimeException error = new InvalidRequestException("as the test wants it");
        end(batch, batch.completeExceptionally(error, number -> error));
    }

    void reenqueue(String name) {
        if (inFlight.get(name).batch.isDone()) {
            throw new IllegalStateException("Sender does not try again what has ended");
        }
        accumulator.reenqueue(answered(name), time.milliseconds());
    }

    /** Kafka takes the usual batch size, or half of what was split before; both are set aside. */
    Map<String, Object> split(String name, int size) {
        ProducerBatch batch = answered(name);
        int usual = accumulator.batchSize;
        boolean wasSplit = batch.isSplitBatch();
        Internals.set(RecordAccumulator.class, accumulator, "batchSize", size);
        Internals.set(ProducerBatch.class, batch, "isSplitBatch", false);
        int children = accumulator.splitAndReenqueue(batch);
        Internals.set(RecordAccumulator.class, accumulator, "batchSize", usual);
        Internals.set(ProducerBatch.class, batch, "isSplitBatch", wasSplit);
        accumulator.completeAndDeallocateBatch(batch);
        return Map.of("children", children);
    }

    /** First what is queued, then what is in flight, as Sender does; tells what comes next. */
    Map<String, Object> expire() {
        long nowMs = time.milliseconds();
        accumulator.resetNextBatchExpiryTime();
        accumulator.expiredBatches(nowMs).forEach(batch -> {
            expire(batch);
            accumulator.completeAndDeallocateBatch(batch);
        });
        for (Request request : inFlight.values()) {
            ProducerBatch batch = request.batch;
            if (batch.isDone()) {
                continue;
            }
            if (batch.hasReachedDeliveryTimeout(accumulator.getDeliveryTimeoutMs(), nowMs)) {
                expire(batch);
                accumulator.completeBatch(batch);
            } else {
                accumulator.maybeUpdateNextBatchExpiryTime(batch);
            }
        }
        return Map.of("next_expiry_ms", accumulator.nextExpiryTimeMs());
    }

    /** Returns the batches whose memory is not as it was when they were drained. */
    List<String> overwritten() {
        return inFlight.entrySet().stream()
                .filter(entry -> !entry.getValue().memory.equals(entry.getValue().sent))
                .map(Map.Entry::getKey)
                .toList();
    }

    private ProducerBatch answered(String name) {
        ProducerBatch batch = inFlight.remove(name).batch;
        batch.setInflight(false);
        accumulator.unmutePartition(batch.topicPartition);
        return batch;
    }

    private void end(ProducerBatch batch, boolean first) {
        if (first) {
            accumulator.completeAndDeallocateBatch(batch);
        } else {
            accumulator.deallocate(batch);
        }
    }

    private static void expire(ProducerBatch batch) {
        RuntimeException error = new TimeoutException("as the clock wants it");
        batch.completeExceptionally(error, number -> error);
    }

    private static List<String> recordsOf(ProducerBatch batch) {
        List<String> names = new ArrayList<>();
        for (Object thunk : (List<?>) Internals.get(ProducerBatch.class, batch, "thunks")) {
            Object callback = Internals.get(thunk.getClass(), thunk, "callback");
            names.add(((DrivenCallback) callback).record());
        }
        return names;
    }

    private static ByteBuffer copy(ByteBuffer memory) {
        return ByteBuffer.allocate(memory.remaining()).put(memory.duplicate()).flip();
    }
}
