package wheelproof.ports;

/**
 * The clock of a thread that sleeps from tick to tick: the thread wakes at each of its ticks, as on a
 * machine with time to spare, and sees the very nanosecond that it has asked for.
 */
final class SteppedClock {
    private long nowNanos;
    private long limitNanos;
    private boolean asleep;
    private boolean ended;

    SteppedClock(long nanos) {
        nowNanos = nanos;
        limitNanos = nanos;
    }

    synchronized long nanos() {
        return nowNanos;
    }

    /** Sleeps, unless the clock is about to pass the end of the sleep, or has ended. */
    synchronized void sleep(long nanos) {
        long wakeNanos = nowNanos + nanos;
        while (wakeNanos > limitNanos && !ended) {
            asleep = true;
            notifyAll();
            await();
        }
        if (!ended) {
            nowNanos = wakeNanos;
        }
    }

    /** Moves the clock, and returns when the thread sleeps beyond this time. */
    synchronized void advanceTo(long nanos) {
        limitNanos = nanos;
        asleep = false;
        notifyAll();
        while (!asleep) {
            await();
        }
        nowNanos = nanos;
    }

    /** Ends the sleep, and every later one at once. */
    synchronized void end() {
        ended = true;
        notifyAll();
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
