package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.RecordAppendResult;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import wheelproof.recording.Callers;
import wheelproof.recording.Recorder;
import wheelproof.recording.Work;
import wheelproof.recording.WorkLoad;

/** Callers that append and flush, and a sender whose broker stores, fails and retries. */
public final class AccumulatorLoad implements WorkLoad {
    static final int PARTITIONS = 3;

    private static final int BATCH_SIZE = 512;
    private static final long TOTAL = 16 * BATCH_SIZE;
    private static final int LINGER_MS = 2;
    private static final int BACKOFF_MS = 2;
    private static final int LONG_MS = 60_000;
    private static final int SHORT_MS = 30;
    private static final int LONGEST_VALUE = 200;
    private static final long LONGEST_BLOCK_MS = 50;

    private final AtomicInteger named = new AtomicInteger();
    private RecordAccumulator accumulator;
    private SenderUnderLoad sender;
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
    }

    private void make(
            Recorder recorder, long total, int batchSize, int lingerMs, int backoffMs,
            int timeoutMs) {
        this.recorder = recorder;
        Metrics metrics = new Metrics();
        accumulator = new RecordAccumulator(
                new LogContext(), batchSize, Compression.NONE, lingerMs, backoffMs, backoffMs,
                timeoutMs, metrics, "record", Time.SYSTEM, null,
                new BufferPool(total, batchSize, metrics, Time.SYSTEM, "record"));
    }

    @Override
    public Map<String, ?> config() {
        Map<String, Object> config = new HashMap<>(Map.of(
                "batch_size", BATCH_SIZE, "total_memory", TOTAL, "linger_ms", LINGER_MS,
                "delivery_timeout_ms", hurried ? SHORT_MS : LONG_MS,
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
        make(recorder, TOTAL, BATCH_SIZE, LINGER_MS, BACKOFF_MS, hurried ? SHORT_MS : LONG_MS);
        AtomicInteger left = new AtomicInteger(hurried ? callers.operations() * 9 / 10 : -1);
        sender = new SenderUnderLoad(accumulator, recorder, callers.seed());
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

    @Override
    public List<String> capabilities() {
        return List.of(
                "append", "flush", "close_all", "ready", "drain", "respond_to_one", "expire",
                "available_memory", "has_incomplete", "flush_in_progress");
    }

    @Override
    public Map<String, ?> claims() {
        return Map.of("gives_back", "at_once");
    }

    @Override
    public void work(Recorder recorder, Work work) throws Exception {
        JsonNode settings = work.config();
        make(recorder, settings.get("total_memory").asLong(), settings.get("batch_size").asInt(),
                settings.get("linger_ms").asInt(), settings.get("retry_backoff_ms").asInt(),
                settings.get("delivery_timeout_ms").asInt());
        sender = new SenderUnderLoad(accumulator, recorder, work.serving());
        sender.start();
        work.act(this::perform);
        sender.finish();
        look();
    }

    private void perform(JsonNode step) throws Exception {
        JsonNode args = step.get("args");
        switch (step.get("op").asText()) {
            case "append" -> append(
                    args.get("record").asText(), partition(args.get("partition").asText()),
                    new byte[args.get("size").asInt()], args.get("max_time_to_block_ms").asLong());
            case "flush" -> flush();
            case "available_memory" -> available();
            case "has_incomplete" -> incomplete();
            case "flush_in_progress" -> flushing();
            default -> {
                close();
                if (args.get("by_force").asBoolean()) {
                    sender.abort();
                }
            }
        }
    }

    /** Returns the partition of a name as Kafka writes it. */
    static TopicPartition partition(String name) {
        int dash = name.lastIndexOf('-');
        return new TopicPartition(
                name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
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
        append("r" + named.getAndIncrement(),
                new TopicPartition(Clusters.TOPIC, dice.nextInt(PARTITIONS)),
                new byte[dice.nextInt(LONGEST_VALUE)], dice.nextLong(LONGEST_BLOCK_MS));
    }

    private void append(String name, TopicPartition partition, byte[] value, long blockMs)
            throws Exception {
        Map<String, ?> asked = Map.of(
                "record", name, "partition", partition.toString(), "size", value.length,
                "max_time_to_block_ms", blockMs);
        recorder.call("append", asked, () -> {
            RecordAppendResult result = accumulator.append(
                    partition.topic(), partition.partition(), 0, null, value,
                    Record.EMPTY_HEADERS, new Callback(name), blockMs,
                    Time.SYSTEM.milliseconds(), Cluster.empty());
            return Map.of(
                    "batch_is_full", result.batchIsFull,
                    "new_batch_created", result.newBatchCreated);
        });
    }

    private void look() throws Exception {
        available();
        incomplete();
        flushing();
    }

    private void available() throws Exception {
        recorder.call("available_memory", Map.of(),
                () -> Map.of("size", accumulator.bufferPoolAvailableMemory()));
    }

    private void incomplete() throws Exception {
        recorder.call("has_incomplete", Map.of(),
                () -> Map.of("yes", accumulator.hasIncomplete()));
    }

    private void flushing() throws Exception {
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
