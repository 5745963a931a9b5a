package com.github.benmanes.caffeine.cache;

import com.github.benmanes.caffeine.cache.stats.CacheStats;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import wheelproof.ports.Port;

/**
 * Caffeine's TimerWheel, with its nodes; it lies in the wheel's package, since nobody else sees it. A
 * task is an entry of the cache, and runs when the wheel has the entry evicted.
 */
public final class CaffeinePort implements Port {
    /** Of Caffeine's jar. The wheel's own package is also that of this class, which has none. */
    public static final String VERSION = CacheStats.class.getPackage().getImplementationVersion();

    /**
     * Ticks of 2^30 ns, which is a little less than 1,074 ms. A delay is at most a quarter of what
     * 64 bits of nanoseconds hold, "150 years", and what has expired before it comes is no entry.
     */
    public static final Map<String, Map<String, Object>> BOUNDS = Map.of(
            "tick_ms", Map.of("least", 1_074, "most", 1_074),
            "delay_ms", Map.of("least", 0, "most", (Long.MAX_VALUE >> 1) / 1_000_000));

    private static final Caffeine<String, String> BUILDER = Caffeine.newBuilder()
            .expireAfter(Expiry.writing((String task, String value) -> Duration.ZERO));
    private static final NodeFactory<String, String> NODES = NodeFactory.newFactory(BUILDER, false);

    private final TimerWheel<String, String> wheel = new TimerWheel<>();
    private final Map<String, Node<String, String>> nodes = new HashMap<>();
    private final Evicting cache = new Evicting();
    private final Consumer<String> ran;

    public CaffeinePort(long tickMs, int wheelSize, long startMs, Consumer<String> ran) {
        this.ran = ran;
        wheel.nanos = nanos(startMs);
    }

    /** Nanoseconds as System.nanoTime has them: they begin anywhere, and overflow. */
    private static long nanos(long ms) {
        return ms * 1_000_000;
    }

    @Override
    public void add(String task, long delayMs) {
        Node<String, String> node = nodes.get(task);
        long due = wheel.nanos + nanos(delayMs);
        if (node == null) {
            node = NODES.newNode(task, task, new ReferenceQueue<>(), 1, wheel.nanos);
            nodes.put(task, node);
            node.setVariableTime(due);
            wheel.schedule(node);
        } else {
            node.setVariableTime(due);
            wheel.reschedule(node);
        }
    }

    @Override
    public boolean cancel(String task) {
        Node<String, String> node = nodes.remove(task);
        if (node == null) {
            return false;
        }
        wheel.deschedule(node);
        return true;
    }

    @Override
    public void advance(long toMs) {
        wheel.advance(cache, nanos(toMs), Integer.MAX_VALUE);
    }

    /** The cache, as far as the wheel knows it: entries are taken out when it says so. */
    private final class Evicting extends BoundedLocalCache<String, String> {
        Evicting() {
            super(BUILDER, null, false);
        }

        @Override
        boolean evictEntry(Node<String, String> node, RemovalCause cause, long now) {
            nodes.remove(node.getKey());
            ran.accept(node.getKey());
            return true;
        }
    }
}
