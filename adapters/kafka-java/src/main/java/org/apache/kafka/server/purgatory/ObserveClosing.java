package org.apache.kafka.server.purgatory;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.ShutdownableThread;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import wheelproof.kafka.KafkaVersion;

/**
 * Shows what docs/standard says of tasks that raise, of threads, and of the order of closing, on
 * Kafka's own classes: one JSON line.
 */
final class ObserveClosing {
    private static final long PASS_MS = 10;

    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    public static void main(String[] arguments) throws Exception {
        System.out.println(new ObjectMapper().writeValueAsString(Map.of(
                "version", KafkaVersion.read(),
                "tasks", new ObserveClosing().tasks(),
                "reaper", new ObserveClosing().reaper(),
                "purgatory", new ObserveClosing().purgatory())));
    }

    /** A task that raises, then one that tells on which thread it runs. */
    private List<String> tasks() throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> seen.add("reported"));
        SystemTimer timer = new SystemTimer("observed");
        timer.add(task(() -> {
            seen.add(about(Thread.currentThread()));
            throw new IllegalStateException("a task raises");
        }));
        CountDownLatch ran = new CountDownLatch(1);
        timer.add(task(() -> {
            seen.add(about(Thread.currentThread()));
            ran.countDown();
        }));
        while (ran.getCount() > 0) {
            timer.advanceClock(PASS_MS);
        }
        timer.close();
        return List.copyOf(seen);
    }

    private List<String> reaper() throws Exception {
        TellingTimer timer = new TellingTimer();
        SystemTimerReaper reaper = new SystemTimerReaper("observed", timer);
        timer.advanced.await();
        reaper.close();
        return List.copyOf(seen);
    }

    private List<String> purgatory() throws Exception {
        TellingTimer timer = new TellingTimer();
        DelayedOperationPurgatory<ConfirmedOperation> purgatory =
                new DelayedOperationPurgatory<>("observed", timer, 0, 1_000, true, true);
        timer.advanced.await();
        purgatory.shutdown();
        return List.copyOf(seen);
    }

    private static TimerTask task(Runnable action) {
        return new TimerTask(0) {
            @Override
            public void run() {
                action.run();
            }
        };
    }

    private static String about(Thread thread) {
        return (thread.isDaemon() ? "daemon " : "thread ") + thread.getName();
    }

    /**
     * Tells when it is closed, and whether the thread that advances it has left its loop by then.
     *
     * <p>Whether that thread is alive would say nothing: it says that it is done just before it ends.
     */
    private final class TellingTimer implements Timer {
        private final SystemTimer timer = new SystemTimer("told", 1, 20, Time.SYSTEM.hiResClockMs());
        private final CountDownLatch advanced = new CountDownLatch(1);
        private volatile ShutdownableThread advancer;

        @Override
        public void add(TimerTask task) {
            seen.add("woken by a task of " + task.delayMs + " ms");
            timer.add(task);
        }

        @Override
        public boolean advanceClock(long timeoutMs) throws InterruptedException {
            if (advancer == null) {
                advancer = (ShutdownableThread) Thread.currentThread();
                seen.add(about(advancer));
                advanced.countDown();
            }
            return timer.advanceClock(timeoutMs);
        }

        @Override
        public int size() {
            return timer.size();
        }

        @Override
        public void close() {
            seen.add(advancer.isShutdownComplete() ? "closed behind its reaper" : "closed before its reaper");
            timer.close();
        }
    }
}
