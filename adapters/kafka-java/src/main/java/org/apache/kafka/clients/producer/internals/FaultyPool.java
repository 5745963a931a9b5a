package org.apache.kafka.clients.producer.internals;

import java.nio.ByteBuffer;
import org.apache.kafka.common.metrics.Metrics;
import wheelproof.kafka.VirtualTime;

/** Kafka's BufferPool, whose allocator and metric fail when they are told to. */
final class FaultyPool extends BufferPool {
    static final String GROUP = "driven";

    private final ThreadLocal<String> fault = new ThreadLocal<>();
    private final boolean standsIn;
    private Runnable whenAllocated = () -> {};

    /** With `standsIn` large buffers take no memory, see StandIns. */
    FaultyPool(long total, int poolable, Metrics metrics, VirtualTime time, boolean standsIn) {
        super(total, poolable, metrics, time, GROUP);
        this.standsIn = standsIn;
    }

    /** Sets what goes wrong in the calls of this thread: a name of the protocol, or nothing. */
    void failOnThisThread(String name) {
        fault.set(name);
    }

    /** Sets what a thread does that has got memory, before it goes on. */
    void whenAllocated(Runnable action) {
        whenAllocated = action;
    }

    @Override
    public ByteBuffer allocate(int size, long maxTimeToBlockMs) throws InterruptedException {
        ByteBuffer buffer = super.allocate(size, maxTimeToBlockMs);
        whenAllocated.run();
        return buffer;
    }

    @Override
    protected ByteBuffer allocateByteBuffer(int size) {
        if ("allocator".equals(fault.get())) {
            throw new OutOfMemoryError("as the test wants it");
        }
        ByteBuffer buffer = standsIn ? StandIns.allocate(size) : super.allocateByteBuffer(size);
        // Kafka makes room in a buffer that is small; into this one nothing can be written at all.
        return "small_buffer".equals(fault.get()) ? buffer.asReadOnlyBuffer() : buffer;
    }

    /** What nothing can be written into does not come back to others. */
    @Override
    public void deallocate(ByteBuffer buffer, int size) {
        super.deallocate(buffer.isReadOnly() ? ByteBuffer.allocate(size) : buffer, size);
    }

    @Override
    protected void recordWaitTime(long waitedNs) {
        if ("metric".equals(fault.get())) {
            throw new MetricFailedException();
        }
        super.recordWaitTime(waitedNs);
    }

    @SuppressWarnings("serial")
    static final class MetricFailedException extends RuntimeException {}
}
