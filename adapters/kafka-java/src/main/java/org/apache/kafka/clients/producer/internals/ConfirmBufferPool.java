package org.apache.kafka.clients.producer.internals;

import static wheelproof.kafka.Confirmation.await;
import static wheelproof.kafka.Confirmation.join;
import static wheelproof.kafka.Confirmation.start;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Internals;

/** Kafka's BufferPool, on the clock of the machine. */
final class ConfirmBufferPool {
    private static final long SHORT_MS = 300;
    private static final long LONG_MS = 10_000;
    private static final int DEFAULT_BATCH_SIZE = 16_384;
    private static final long TWO_GIB = 1L << 31;

    private ConfirmBufferPool() {}

    static Observation barging() throws Exception {
        BufferPool pool = pool(2);
        ByteBuffer first = pool.allocate(1, 0);
        AtomicReference<ByteBuffer> served = new AtomicReference<>();
        Thread waiter = start(() -> served.set(pool.allocate(2, LONG_MS)));
        await("a thread waits for 2 bytes", () -> pool.queued() == 1);
        ByteBuffer second = pool.allocate(1, 0);
        boolean overtaken = pool.queued() == 1 && served.get() == null;
        pool.deallocate(first);
        pool.deallocate(second);
        join(waiter);
        return new Observation(
                overtaken,
                "of 2 bytes 1 was lent and a thread waited for 2; another thread then got 1 byte"
                        + " with a time limit of 0, while the first one waited on: " + overtaken);
    }

    /** The one that gives a byte back takes the lock again before the woken thread has it. */
    static Observation bargingStarves() throws Exception {
        BufferPool pool = pool(1);
        ReentrantLock lock = (ReentrantLock) Internals.get(BufferPool.class, pool, "lock");
        ByteBuffer lent = pool.allocate(1, 0);
        AtomicReference<Exception> error = new AtomicReference<>();
        Thread waiter = start(() -> {
            try {
                pool.allocate(1, SHORT_MS);
            } catch (BufferExhaustedException exhausted) {
                error.set(exhausted);
            }
        });
        await("a thread waits", () -> pool.queued() == 1);
        int returns = 0;
        while (pool.queued() == 1) {
            lock.lock();
            try {
                Condition waiting = pool.waiters().peekFirst();
                returns += waiting != null && lock.hasWaiters(waiting) ? 1 : 0;
                pool.deallocate(lent);
                lent = pool.allocate(1, 0);
            } finally {
                lock.unlock();
            }
            await("the woken thread has had the lock", () -> !lock.hasQueuedThreads());
        }
        join(waiter);
        return new Observation(
                error.get() != null && returns > 1,
                "while a thread waited " + SHORT_MS + " ms for 1 byte, that byte came back "
                        + returns + " times and went to a newcomer; its wait ended by "
                        + (error.get() == null
                                ? "memory" : error.get().getClass().getSimpleName()));
    }

    /** All pooled buffers are views of one, so that 2 GiB of them fit into little memory. */
    static Observation narrowFreeList() throws Exception {
        ByteBuffer shared = ByteBuffer.allocate(DEFAULT_BATCH_SIZE);
        BufferPool pool = new BufferPool(
                TWO_GIB, DEFAULT_BATCH_SIZE, new Metrics(), Time.SYSTEM, "confirm") {
            @Override
            protected ByteBuffer allocateByteBuffer(int size) {
                return size == DEFAULT_BATCH_SIZE ? shared.duplicate() : ByteBuffer.allocate(size);
            }
        };
        List<ByteBuffer> lent = new ArrayList<>();
        while (pool.availableMemory() > 0) {
            lent.add(pool.allocate(DEFAULT_BATCH_SIZE, 0));
        }
        lent.forEach(pool::deallocate);
        String error = null;
        try {
            pool.allocate(DEFAULT_BATCH_SIZE + 1, SHORT_MS);
        } catch (BufferExhaustedException exhausted) {
            error = exhausted.getClass().getSimpleName();
        }
        return new Observation(
                error != null && pool.availableMemory() == TWO_GIB,
                lent.size() + " buffers of " + DEFAULT_BATCH_SIZE + " bytes were lent and given"
                        + " back; availableMemory() is " + pool.availableMemory() + " of "
                        + pool.totalMemory() + "; allocate(" + (DEFAULT_BATCH_SIZE + 1)
                        + ") ended after " + SHORT_MS + " ms by " + error);
    }

    static Observation givenBackTwice() throws Exception {
        BufferPool pool = pool(2);
        ByteBuffer buffer = pool.allocate(1, 0);
        pool.deallocate(buffer);
        pool.deallocate(buffer);
        long available = pool.availableMemory();
        boolean shared = pool.allocate(1, 0) == pool.allocate(1, 0);
        return new Observation(
                available > pool.totalMemory() && shared,
                "after the second deallocate availableMemory() is " + available + " of "
                        + pool.totalMemory() + "; the next two callers got the same buffer: "
                        + shared);
    }

    private static BufferPool pool(long totalBytes) {
        return new BufferPool(totalBytes, 1, new Metrics(), Time.SYSTEM, "confirm");
    }
}
