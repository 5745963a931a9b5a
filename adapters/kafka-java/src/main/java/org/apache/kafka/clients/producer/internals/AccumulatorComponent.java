package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.internals.ExponentialBackoff;
import org.apache.kafka.common.utils.internals.LogContext;
import wheelproof.kafka.Component;
import wheelproof.kafka.Internals;
import wheelproof.kafka.Json;
import wheelproof.kafka.VirtualLock;
import wheelproof.kafka.VirtualTime;
import wheelproof.kafka.Workers;

/** Kafka's RecordAccumulator, over its BufferPool, on a virtual clock. */
public final class AccumulatorComponent implements Component {
    private static final int MULTIPLIER = 2;

    private record Config(
            long total_memory, int batch_size, int linger_ms, long retry_backoff_ms,
            long retry_backoff_max_ms, int delivery_timeout_ms, long start_ms) {}

    private record Ready(Map<Integer, Integer> leaders) {}

    private record Drain(int node, List<Integer> partitions, int max_size) {}

    private record OfBatch(String batch) {}

    private record Split(String batch, int size) {}

    private record Flush(String flush) {}

    private record Interrupt(String name) {}

    private record Advance(long to_ms) {}

    private final Workers workers = new Workers();
    private VirtualTime time;
    private VirtualLock lock;
    private RecordAccumulator accumulator;
    private DrivenAppends appends;
    private DrivenFlushes flushes;
    private DrivenSender sender;

    @Override
    public void reset(JsonNode config) throws Exception {
        if (accumulator != null) {
            // Ends the threads that wait.
            accumulator.close();
            workers.awaitQuiet();
            accumulator.abortIncompleteBatches();
        }
        Map<Integer, String> topics = Json.takeMap("topics", config);
        Config read = Json.as(Config.class, config);
        IntFunction<String> topicOf =
                partition -> topics.getOrDefault(partition, Clusters.TOPIC);
        time = new VirtualTime(read.start_ms);
        Metrics metrics = new Metrics(time);
        FaultyPool pool =
                new FaultyPool(read.total_memory, read.batch_size, metrics, time, false);
        lock = VirtualLock.install(pool, time, workers);
        accumulator = new RecordAccumulator(
                new LogContext(), read.batch_size, Compression.NONE, read.linger_ms,
                read.retry_backoff_ms, read.retry_backoff_max_ms, read.delivery_timeout_ms,
                metrics, "driven", time, null, pool);
        // As Kafka makes it, without the chance in it.
        Internals.set(RecordAccumulator.class, accumulator, "retryBackoff", new ExponentialBackoff(
                read.retry_backoff_ms, MULTIPLIER, read.retry_backoff_max_ms, 0));
        flushes = new DrivenFlushes(accumulator, workers);
        appends = new DrivenAppends(accumulator, pool, time, workers, topicOf);
        sender = new DrivenSender(accumulator, time, topicOf);
    }

    @Override
    public Map<String, Object> perform(String operation, JsonNode args) throws Exception {
        Map<String, Object> answer = new HashMap<>(call(operation, args));
        workers.awaitQuiet();
        appends.throwRefusal();
        answer.put("flushed", flushes.takeEnded());
        answer.put("called_back", appends.takeCalledBack());
        answer.put("appended", appends.takeAppended());
        answer.put("refused", appends.takeRefused());
        answer.put("available_memory", accumulator.bufferPoolAvailableMemory());
        answer.put("has_undrained", accumulator.hasUndrained());
        answer.put("has_incomplete", accumulator.hasIncomplete());
        answer.put("flush_in_progress", accumulator.flushInProgress());
        answer.put("overwritten", sender.overwritten());
        return answer;
    }

    private Map<String, Object> call(String operation, JsonNode args)
            throws JsonProcessingException {
        switch (operation) {
            case "append" -> {
                String fault = Json.takeOptional("fault", args);
                String callback = Json.takeOptional("callback", args);
                appends.start(Json.as(DrivenAppends.Append.class, args), fault, callback);
            }
            case "ready" -> {
                return sender.ready(Json.as(Ready.class, args).leaders);
            }
            case "drain" -> {
                Drain drain = Json.as(Drain.class, args);
                return sender.drain(drain.node, drain.partitions, drain.max_size);
            }
            case "respond" -> {
                String offset = Json.takeOptional("offset", args);
                String batch = Json.as(OfBatch.class, args).batch;
                if (offset.isEmpty()) {
                    sender.fail(batch);
                } else {
                    sender.store(batch, Long.parseLong(offset));
                }
            }
            case "reenqueue" -> sender.reenqueue(Json.as(OfBatch.class, args).batch);
            case "split" -> {
                Split split = Json.as(Split.class, args);
                return sender.split(split.batch, split.size);
            }
            case "expire" -> {
                return sender.expire();
            }
            case "flush" -> flushes.start(Json.as(Flush.class, args).flush);
            case "interrupt" -> interrupt(Json.as(Interrupt.class, args).name);
            case "advance" -> {
                time.setTime(Json.as(Advance.class, args).to_ms);
                lock.expire();
            }
            case "close" -> accumulator.close();
            case "abort" -> accumulator.abortIncompleteBatches();
            default -> throw Component.unknown(operation);
        }
        return Map.of();
    }

    private void interrupt(String name) {
        Thread append = appends.threadOf(name);
        if (!flushes.interrupt(name) && append != null) {
            lock.interrupt(append);
        }
    }
}
