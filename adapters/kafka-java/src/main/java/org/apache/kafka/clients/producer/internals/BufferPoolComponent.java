package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.metrics.Metrics;
import wheelproof.kafka.Component;
import wheelproof.kafka.Json;
import wheelproof.kafka.VirtualLock;
import wheelproof.kafka.VirtualTime;
import wheelproof.kafka.Workers;

/** Kafka's BufferPool on a virtual clock; each allocation has a thread of its own. */
public final class BufferPoolComponent implements Component {
    private static final int MILLION = 1_000_000;

    private record Config(long total_memory, int poolable_size, long start_ms) {}

    private record Allocate(String buffer, int size, long max_time_to_block_ms) {}

    private record Deallocate(String buffer) {}

    private record Interrupt(String name) {}

    private record Advance(long to_ms) {}

    private final Workers workers = new Workers();
    private final Map<String, Thread> threads = new HashMap<>();
    private final Map<String, ByteBuffer> buffers = new HashMap<>();
    private Map<String, String> ended = new LinkedHashMap<>();
    private RuntimeException refusal;
    private VirtualTime time;
    private VirtualLock lock;
    private Metrics metrics;
    private FaultyPool pool;

    @Override
    public void reset(JsonNode config) throws Exception {
        if (pool != null) {
            // Ends the threads that wait.
            pool.close();
            workers.awaitQuiet();
        }
        threads.clear();
        buffers.clear();
        ended = new LinkedHashMap<>();
        Config read = Json.as(Config.class, config);
        time = new VirtualTime(read.start_ms);
        metrics = new Metrics(time);
        pool = new FaultyPool(read.total_memory, read.poolable_size, metrics, time, true);
        lock = VirtualLock.install(pool, time, workers);
    }

    @Override
    public Map<String, Object> perform(String operation, JsonNode args) throws Exception {
        call(operation, args);
        workers.awaitQuiet();
        if (refusal != null) {
            RuntimeException thrown = refusal;
            refusal = null;
            throw thrown;
        }
        Map<String, String> told = ended;
        ended = new LinkedHashMap<>();
        return Map.of(
                "ended", told,
                "available_memory", pool.availableMemory(),
                "unallocated_memory", pool.unallocatedMemory(),
                "queued", pool.queued(),
                "wait_time_ns_total", (long) metric("bufferpool-wait-time-ns-total"),
                "wait_ratio_ppm", (long) (metric("bufferpool-wait-ratio") * MILLION));
    }

    private double metric(String name) {
        return (double) metrics.metric(metrics.metricName(name, FaultyPool.GROUP)).metricValue();
    }

    private void call(String operation, JsonNode args) throws JsonProcessingException {
        switch (operation) {
            case "allocate" -> {
                String injected = Json.takeOptional("fault", args);
                Allocate allocate = Json.as(Allocate.class, args);
                threads.put(allocate.buffer, workers.start(() -> allocate(allocate, injected)));
            }
            case "deallocate" -> {
                String name = Json.as(Deallocate.class, args).buffer;
                if (!buffers.containsKey(name)) {
                    throw new IllegalArgumentException(name + " never got a buffer");
                }
                pool.deallocate(buffers.get(name));
            }
            case "interrupt" -> lock.interrupt(threads.get(Json.as(Interrupt.class, args).name));
            case "advance" -> {
                time.setTime(Json.as(Advance.class, args).to_ms);
                lock.expire();
            }
            case "close" -> pool.close();
            default -> throw Component.unknown(operation);
        }
    }

    /** Allocates, on the thread of the call. */
    private void allocate(Allocate allocate, String injected) {
        pool.failOnThisThread(injected);
        if (injected.equals("interrupted_before")) {
            Thread.currentThread().interrupt();
        }
        try {
            ByteBuffer buffer = pool.allocate(allocate.size, allocate.max_time_to_block_ms);
            end(allocate.buffer, "buffer", buffer);
        } catch (BufferExhaustedException error) {
            end(allocate.buffer, "exhausted", null);
        } catch (FaultyPool.MetricFailedException error) {
            end(allocate.buffer, "metric_failed", null);
        } catch (KafkaException error) {
            end(allocate.buffer, "closed", null);
        } catch (InterruptedException error) {
            end(allocate.buffer, "interrupted", null);
        } catch (OutOfMemoryError error) {
            end(allocate.buffer, "out_of_memory", null);
        } catch (RuntimeException error) {
            refusal = error;
        }
    }

    private synchronized void end(String name, String outcome, ByteBuffer buffer) {
        ended.put(name, outcome);
        buffers.put(name, buffer);
    }
}
