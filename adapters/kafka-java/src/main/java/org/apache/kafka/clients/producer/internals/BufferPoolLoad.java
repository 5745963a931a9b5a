package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import wheelproof.recording.Callers;
import wheelproof.recording.Recorder;
import wheelproof.recording.Work;
import wheelproof.recording.WorkLoad;

/** Callers that allocate more than there is, keep a few buffers and give them back. */
public final class BufferPoolLoad implements WorkLoad {
    private static final int POOLABLE = 1_024;
    private static final long TOTAL = 8 * POOLABLE;
    private static final int MOST_KEPT = 3;
    private static final long LONGEST_BLOCK_MS = 20;

    private final Map<Integer, List<ByteBuffer>> kept = new ConcurrentHashMap<>();
    private final AtomicLong named = new AtomicLong();
    private final boolean hurried;
    private BufferPool pool;
    private Recorder recorder;

    /** Makes a pool; if it is hurried, it is closed while others wait for memory. */
    public BufferPoolLoad(boolean hurried) {
        this.hurried = hurried;
    }

    @Override
    public Map<String, ?> config() {
        return Map.of("total_memory", TOTAL, "poolable_size", POOLABLE);
    }

    @Override
    public String refusal(Exception error) {
        return refusalOf(error);
    }

    /** What a producer's memory refuses, in the words of a history. */
    static String refusalOf(Exception error) {
        if (error instanceof BufferExhaustedException) {
            return "Exhausted";
        }
        if (error instanceof IllegalArgumentException) {
            return "IllegalArgument";
        }
        return error.getClass() == KafkaException.class ? "Closed" : null;
    }

    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        make(recorder, TOTAL, POOLABLE);
        AtomicLong left = new AtomicLong(hurried ? callers.operations() * 9L / 10 : -1);
        callers.act((dice, caller) -> {
            if (left.decrementAndGet() == 0) {
                close();
            }
            act(dice, keptBy(caller));
        });
        giveAllBack();
    }

    @Override
    public List<String> capabilities() {
        return List.of("allocate", "give_back", "available_memory", "queued", "close");
    }

    @Override
    public Map<String, ?> claims() {
        return Map.of();
    }

    @Override
    public void work(Recorder recorder, Work work) throws Exception {
        JsonNode settings = work.config();
        make(recorder, settings.get("total_memory").asLong(),
                settings.get("poolable_size").asInt());
        work.act(this::perform);
        giveAllBack();
    }

    private void perform(JsonNode step) throws Exception {
        JsonNode args = step.get("args");
        List<ByteBuffer> buffers = keptBy(step.get("caller").asInt());
        switch (step.get("op").asText()) {
            case "allocate" -> allocate(
                    args.get("size").asInt(), args.get("max_time_to_block_ms").asLong(), buffers);
            case "give_back" -> {
                if (!buffers.isEmpty()) {
                    giveBack(buffers.remove(args.get("loan").asInt() % buffers.size()));
                }
            }
            case "available_memory" -> available();
            case "queued" -> queued();
            default -> close();
        }
    }

    private void make(Recorder recorder, long total, int poolable) {
        this.recorder = recorder;
        pool = new BufferPool(total, poolable, new Metrics(), Time.SYSTEM, "record");
    }

    private List<ByteBuffer> keptBy(int caller) {
        return kept.computeIfAbsent(caller, number -> new ArrayList<>());
    }

    private void giveAllBack() throws Exception {
        for (List<ByteBuffer> buffers : kept.values()) {
            while (!buffers.isEmpty()) {
                giveBack(buffers.remove(0));
            }
        }
        look();
    }

    private void act(SplittableRandom dice, List<ByteBuffer> buffers) throws Exception {
        int choice = dice.nextInt(100);
        if (choice < 3) {
            look();
        } else if (!buffers.isEmpty() && (choice < 50 || buffers.size() == MOST_KEPT)) {
            giveBack(buffers.remove(dice.nextBoolean() ? 0 : buffers.size() - 1));
        } else {
            int size = dice.nextInt(3) == 0 ? dice.nextInt(Long.BYTES, 3 * POOLABLE) : POOLABLE;
            allocate(size, dice.nextLong(LONGEST_BLOCK_MS), buffers);
        }
    }

    private void allocate(int size, long blockMs, List<ByteBuffer> buffers) throws Exception {
        Map<String, ?> asked = Map.of("size", size, "max_time_to_block_ms", blockMs);
        recorder.call("allocate", asked, () -> {
            ByteBuffer buffer = pool.allocate(size, blockMs);
            buffers.add(buffer);
            return Map.of("buffer", name(buffer), "size", buffer.capacity());
        });
    }

    private void giveBack(ByteBuffer buffer) throws Exception {
        Map<String, ?> asked = Map.of("buffer", name(buffer), "size", buffer.capacity());
        recorder.call("deallocate", asked, () -> {
            pool.deallocate(buffer);
            return Map.of();
        });
    }

    private void close() throws Exception {
        recorder.call("close", Map.of(), () -> {
            pool.close();
            return Map.of();
        });
    }

    private void look() throws Exception {
        available();
        queued();
    }

    private void available() throws Exception {
        recorder.call("available_memory", Map.of(), () -> Map.of("size", pool.availableMemory()));
    }

    private void queued() throws Exception {
        recorder.call("queued", Map.of(), () -> Map.of("count", pool.queued()));
    }

    /** The name is written into the memory: whoever else has it has the same name. */
    private String name(ByteBuffer buffer) {
        if (buffer.getLong(0) == 0) {
            buffer.putLong(0, named.incrementAndGet());
        }
        return "b" + buffer.getLong(0);
    }
}
