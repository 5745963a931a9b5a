package wheelproof.netty;

/**
 * The clock that a wheel is put on: nanoseconds that only {@link #advanceTo} moves.
 *
 * <p>One thread, the wheel's worker, sleeps on it. Whoever moves the time waits until the worker
 * sleeps again towards a time that has not come, so that all it had to do is done.
 */
public final class VirtualClock {
    private static final Object MONITOR = new Object();
    private static long nowNanos;
    private static Thread sleeper;
    private static long wakeNanos;

    private VirtualClock() {}

    /** Stands in for {@link System#nanoTime}. */
    public static long nanoTime() {
        synchronized (MONITOR) {
            return nowNanos;
        }
    }

    /** Stands in for {@link Thread#sleep(long)}. */
    public static void sleep(long millis) throws InterruptedException {
        synchronized (MONITOR) {
            sleeper = Thread.currentThread();
            wakeNanos = nowNanos + millis * 1_000_000;
            MONITOR.notifyAll();
            try {
                while (nowNanos < wakeNanos) {
                    MONITOR.wait();
                }
            } finally {
                sleeper = null;
            }
        }
    }

    /** Begins anew at a time, when no worker is left. */
    public static void reset(long nanos) {
        synchronized (MONITOR) {
            nowNanos = nanos;
            sleeper = null;
        }
    }

    /** Moves the time and waits until the worker has done everything up to it. */
    public static void advanceTo(long nanos) throws InterruptedException {
        synchronized (MONITOR) {
            nowNanos = Math.max(nowNanos, nanos);
            MONITOR.notifyAll();
            while (sleeper == null || wakeNanos <= nowNanos) {
                MONITOR.wait();
            }
        }
    }
}
