package wheelproof.kafka;

import org.apache.kafka.common.utils.Time;

/** A clock that the caller moves. */
public final class VirtualTime implements Time {
    private static final long NANOS_PER_MS = 1_000_000;
    private volatile long nowMs;

    /** Makes a clock that shows `startMs`. */
    public VirtualTime(long startMs) {
        nowMs = startMs;
    }

    /** Sets the clock. */
    public void setTime(long toMs) {
        if (toMs < nowMs) {
            throw new IllegalArgumentException("the clock shows " + nowMs + " ms and cannot go back");
        }
        nowMs = toMs;
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * NANOS_PER_MS;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException("nobody sleeps on this clock");
    }
}
