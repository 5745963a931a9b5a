package org.apache.kafka.clients.producer.internals;

import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.metrics.Metrics;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.VirtualLock;
import wheelproof.kafka.VirtualTime;
import wheelproof.kafka.Workers;

/** A size below 0 is reserved like any other, until the allocation fails. */
final class ConfirmNegativeSize {
    private static final int LONG_MS = 60_000;

    private final VirtualTime time = new VirtualTime(0);
    private final Workers workers = new Workers();
    private final CountDownLatch held = new CountDownLatch(1);
    private final BufferPool pool = new BufferPool(1, 1, new Metrics(time), time, "confirm") {
        @Override
        protected ByteBuffer allocateByteBuffer(int size) {
            if (size < 0) {
                hold();
            }
            return super.allocateByteBuffer(size);
        }
    };

    private ConfirmNegativeSize() {
        VirtualLock.install(pool, time, workers);
    }

    /** The failing allocation is held where the pool has unlocked and not allocated yet. */
    static Observation lendsMoreThanTheTotal() throws Exception {
        ConfirmNegativeSize in = new ConfirmNegativeSize();
        in.pool.allocate(1, 0);
        AtomicReference<Object> second = new AtomicReference<>();
        in.workers.start(() -> second.set(in.allocate(1)));
        in.workers.awaitQuiet();
        boolean waited = second.get() == null;
        AtomicReference<Object> negative = new AtomicReference<>();
        Thread failing = in.workers.start(() -> negative.set(in.allocate(-1)));
        in.workers.awaitQuiet();
        boolean lent = second.get() instanceof ByteBuffer;
        in.held.countDown();
        failing.join();
        return new Observation(
                waited && lent && in.pool.availableMemory() == -1,
                "of a pool of 1 byte, which was lent, the thread that waited got " + second.get()
                        + " while allocate(-1) was under way; that ended by " + negative.get()
                        + "; availableMemory() is " + in.pool.availableMemory());
    }

    private void hold() {
        workers.pause();
        try {
            held.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
        workers.resume();
    }

    private Object allocate(int size) {
        try {
            return pool.allocate(size, LONG_MS);
        } catch (InterruptedException | IllegalArgumentException error) {
            return error;
        }
    }
}
