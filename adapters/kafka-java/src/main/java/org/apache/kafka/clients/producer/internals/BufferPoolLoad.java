package org.apache.kafka.clients.producer.internals;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import wheelproof.recording.Callers;
import wheelproof.recording.Load;
import wheelproof.recording.Recorder;

/** Callers that allocate more than there is, keep a few buffers and give them back. */
public final class BufferPoolLoad implements Load {
    private static final int POOLABLE = 1_024;
    private static final long TOTAL = 8 * POOLABLE;
    private static final int MOST_KEPT = 3;
    private static final long LONGEST_BLOCK_MS = 20;

    private final BufferPool pool =
            new BufferPool(TOTAL, POOLABLE, new Metrics(), Time.SYSTEM, "record");
    private final Map<Integer, Deque<ByteBuffer>> kept = new ConcurrentHashMap<>();
    private final AtomicLong named = new AtomicLong();
    private final boolean hurried;
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
        this.recorder = recorder;
        AtomicLong left = new AtomicLong(hurried ? callers.operations() * 9L / 10 : -1);
        callers.act((dice, caller) -> {
            if (left.decrementAndGet() == 0) {
                recorder.call("close", Map.of(), () -> {
                    pool.close();
                    return Map.of();
                });
            }
            act(dice, kept.computeIfAbsent(caller, number -> new ArrayDeque<>()));
        });
        for (Deque<ByteBuffer> buffers : kept.values()) {
            while (!buffers.isEmpty()) {
                giveBack(buffers.remove());
            }
        }
        look();
    }

    private void act(SplittableRandom dice, Deque<ByteBuffer> buffers) throws Exception {
        int choice = dice.nextInt(100);
        if (choice < 5) {
            look();
        } else if (!buffers.isEmpty() && (choice < 50 || buffers.size() == MOST_KEPT)) {
            giveBack(dice.nextBoolean() ? buffers.removeFirst() : buffers.removeLast());
        } else {
            allocate(dice, buffers);
        }
    }

    private void allocate(SplittableRandom dice, Deque<ByteBuffer> buffers) throws Exception {
        int size = dice.nextInt(3) == 0 ? dice.nextInt(Long.BYTES, 3 * POOLABLE) : POOLABLE;
        long blockMs = dice.nextLong(LONGEST_BLOCK_MS);
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

    private void look() throws Exception {
        recorder.call("available_memory", Map.of(), () -> Map.of("size", pool.availableMemory()));
    }

    /** The name is written into the memory: whoever else has it has the same name. */
    private String name(ByteBuffer buffer) {
        if (buffer.getLong(0) == 0) {
            buffer.putLong(0, named.incrementAndGet());
        }
        return "b" + buffer.getLong(0);
    }
}
