package org.apache.kafka.clients.producer.internals;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.RecordAppendResult;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import wheelproof.recording.Callers;
import wheelproof.recording.Load;
import wheelproof.recording.Recorder;

/** Callers that append and flush, and a sender whose broker stores, fails and retries. */
public final class AccumulatorLoad implements Load {
    static final int PARTITIONS = 3;

    private static final int BATCH_SIZE = 512;
    private static final long TOTAL = 16 * BATCH_SIZE;
    private static final int LINGER_MS = 2;
    private static final int BACKOFF_MS = 2;
    private static final int LONG_MS = 60_000;
    private static final int SHORT_MS = 30;
    private static final int LONGEST_VALUE = 200;
    private static final long LONGEST_BLOCK_MS = 50;

    private final RecordAccumulator accumulator;
    private final AtomicInteger named = new AtomicInteger();
    private Recorder recorder;

    private final boolean hurried;

    /**
     * Makes an accumulator over a pool of its own.
     *
     * <p>If it is hurried, batches expire, and it is closed by force while others append and wait.
     * Kafka then promises nothing about the order of callbacks.
     */
    public AccumulatorLoad(boolean hurried) {
        this.hurried = hurried;
        Metrics metrics = new Metrics();
        accumulator = new RecordAccumulator(
                new LogContext(), BATCH_SIZE, Compression.NONE, LINGER_MS, BACKOFF_MS, BACKOFF_MS,
                hurried ? SHORT_MS : LONG_MS, metrics, "record", Time.SYSTEM, null,
                new BufferPool(TOTAL, BATCH_SIZE, metrics, Time.SYSTEM, "record"));
    }

    @Override
    public Map<String, ?> config() {
        Map<String, Object> config = new HashMap<>(Map.of(
                "batch_size", BATCH_SIZE, "total_memory", TOTAL, "linger_ms", LINGER_MS,
                "delivery_timeout_ms", accumulator.getDeliveryTimeoutMs(),
                "gives_back", "at_once"));
        if (!hurried) {
            config.put("callbacks", "in_order");
        }
        return config;
    }

    @Override
    public Map<String, ?> referencePromises() {
        return Map.of("callbacks", "in_order");
    }

    @Override
    public String refusal(Exception error) {
        return BufferPoolLoad.refusalOf(error);
    }

    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        this.recorder = recorder;
        AtomicInteger left = new AtomicInteger(hurried ? callers.operations() * 9 / 10 : -1);
        SenderUnderLoad sender = new SenderUnderLoad(accumulator, recorder, callers.seed());
        sender.start();
        callers.act((dice, caller) -> {
            if (left.decrementAndGet() == 0) {
                close();
                sender.abort();
            }
            act(dice);
        });
        if (!hurried) {
            flush();
            close();
        }
        sender.finish();
        look();
    }

    private void act(SplittableRandom dice) throws Exception {
        int choice = dice.nextInt(200);
        if (choice == 0) {
            flush();
        } else if (choice < 3) {
            look();
        } else {
            append(dice);
        }
    }

    private void append(SplittableRandom dice) throws Exception {
        String name = "r" + named.getAndIncrement();
        int partition = dice.nextInt(PARTITIONS);
        byte[] value = new byte[dice.nextInt(LONGEST_VALUE)];
        long blockMs = dice.nextLong(LONGEST_BLOCK_MS);
        Map<String, ?> asked = Map.of(
                "record", name, "partition", name(partition), "size", value.length,
                "max_time_to_block_ms", blockMs);
        recorder.call("append", asked, () -> {
            RecordAppendResult result = accumulator.append(
                    Clusters.TOPIC, partition, 0, null, value, Record.EMPTY_HEADERS,
                    new Callback(name), blockMs, Time.SYSTEM.milliseconds(), Cluster.empty());
            return Map.of(
                    "batch_is_full", result.batchIsFull,
                    "new_batch_created", result.newBatchCreated);
        });
    }

    static String name(int partition) {
        return "p" + partition;
    }

    private void look() throws Exception {
        recorder.call("available_memory", Map.of(),
                () -> Map.of("size", accumulator.bufferPoolAvailableMemory()));
        recorder.call("has_incomplete", Map.of(),
                () -> Map.of("yes", accumulator.hasIncomplete()));
        recorder.call("flush_in_progress", Map.of(),
                () -> Map.of("yes", accumulator.flushInProgress()));
    }

    private void flush() throws Exception {
        recorder.call("flush", Map.of(), () -> {
            accumulator.beginFlush();
            accumulator.awaitFlushCompletion();
            return Map.of();
        });
    }

    private void close() throws Exception {
        recorder.call("close", Map.of(), () -> {
            accumulator.close();
            return Map.of();
        });
    }

    /** The record's callback, which knows its name. */
    final class Callback implements RecordAccumulator.AppendCallbacks {
        private final String record;

        Callback(String record) {
            this.record = record;
        }

        String record() {
            return record;
        }

        @Override
        public void setPartition(int partition) {}

        @Override
        public void onCompletion(RecordMetadata metadata, Exception error) {
            Map<String, Object> told = new HashMap<>();
            told.put("record", record);
            told.put("offset", error == null ? metadata.offset() : null);
            told.put("error", error == null ? null : reason(error));
            recorder.happens("callback", told);
        }

        private static String reason(Exception error) {
            if (error instanceof TimeoutException) {
                return "Expired";
            }
            return error.getClass() == KafkaException.class
                    ? "Aborted" : error.getClass().getSimpleName();
        }
    }
}
