package org.apache.kafka.server.util.timer;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Time;
import wheelproof.kafka.KafkaVersion;
import wheelproof.kafka.RaisesOnce;

/**
 * Repeats the counterexamples of docs/findings.md on Kafka's own SystemTimer, one JSON line each.
 *
 * <p>SystemTimer's code runs as released. Threads are stopped at the steps that a counterexample
 * names by means that its caller has (holding a task's monitor) or by a gate in the queue or the
 * executor that stands in for the scheduler; nothing else of them is changed.
 */
final class ConfirmFindings {
    private static final long TICK_MS = 100;
    private static final int WHEEL_SIZE = 3;
    private static final long INTERVAL_MS = TICK_MS * WHEEL_SIZE;
    private static final int ATTEMPTS = 5;
    private static final long ENDLESS_MS = 1_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Queue<String> ran = new ConcurrentLinkedQueue<>();
    private final GatedQueue queue = new GatedQueue();
    private final GatedExecutor executor = new GatedExecutor();
    private final SystemTimer timer;
    private final long startMs;

    private interface Scenario {
        String confirm(ConfirmFindings setting) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Scenario> scenarios = new LinkedHashMap<>();
        scenarios.put("unoffered-bucket", ConfirmFindings::unofferedBucket);
        scenarios.put("overtaken-bucket", ConfirmFindings::overtakenBucket);
        scenarios.put("clock-ahead", ConfirmFindings::clockAhead);
        scenarios.put("submitted-after-cancel", ConfirmFindings::submittedAfterCancel);
        scenarios.put("lost-after-close", ConfirmFindings::lostAfterClose);
        scenarios.put("one-bucket", ConfirmFindings::oneBucket);
        scenarios.put("reaper-ends-at-error", ConfirmFindings::reaperEndsAtError);
        scenarios.put("endless-flush", ConfirmFindings::endlessFlush);
        for (Map.Entry<String, Scenario> scenario : scenarios.entrySet()) {
            String observed = confirm(scenario.getValue());
            System.out.println(JSON.writeValueAsString(Map.of(
                    "finding", scenario.getKey(),
                    "version", KafkaVersion.read(),
                    "confirmed", observed != null,
                    "observed", observed == null ? "the timer kept its promise" : observed)));
        }
        // The endless flush cannot be interrupted.
        System.exit(0);
    }

    /** A machine that stands still for a tick spoils an attempt: the promise then seems kept. */
    private static String confirm(Scenario scenario) throws Exception {
        String observed = null;
        for (int attempt = 0; attempt < ATTEMPTS && observed == null; attempt++) {
            ConfirmFindings setting = new ConfirmFindings();
            observed = scenario.confirm(setting);
            setting.executor.shutdownNow();
        }
        return observed;
    }

    /** Starts where a level-1 bucket begins, so that all scenarios meet the same buckets. */
    private ConfirmFindings() throws Exception {
        long now = now();
        startMs = now - now % INTERVAL_MS + INTERVAL_MS;
        awaitTime(startMs);
        timer = new SystemTimer("confirm", TICK_MS, WHEEL_SIZE, startMs);
        ((ExecutorService) field("taskExecutor").get(timer)).shutdown();
        field("taskExecutor").set(timer, executor);
        field("delayQueue").set(timer, queue);
        AtomicInteger counter = (AtomicInteger) field("taskCounter").get(timer);
        field("timingWheel").set(timer, new TimingWheel(TICK_MS, WHEEL_SIZE, startMs, counter, queue));
    }

    /** An adder stands between its bucket's new expiration and the offer; another one joins it. */
    private String unofferedBucket() throws Exception {
        queue.stopOffers = new CountDownLatch(1);
        Thread first = start(() -> timer.add(task("first", startMs + TICK_MS + 10)));
        awaitState(first, Thread.State.WAITING);
        timer.add(task("second", startMs + TICK_MS + 20));
        awaitTime(startMs + TICK_MS + 50);
        boolean taken = timer.advanceClock(0);
        executor.settle();
        String observed = ran.contains("second") ? null : "add(second) had returned and it was due "
                + "30 ms ago; advanceClock returned " + taken + " and second did not run";
        queue.stopOffers.countDown();
        first.join();
        return observed;
    }

    /** An adder stands between its clock reading and its insert, while a later bucket is polled. */
    private String overtakenBucket() throws Exception {
        long laterBucketMs = startMs + INTERVAL_MS;
        timer.add(task("cascading", laterBucketMs + TICK_MS + 50));
        NamedTask late = task("late", startMs + TICK_MS + 50);
        Thread adder;
        Thread reaper;
        synchronized (late) {
            adder = start(() -> timer.add(late));
            awaitState(adder, Thread.State.BLOCKED);
            awaitTime(laterBucketMs);
            reaper = start(() -> timer.advanceClock(0));
            awaitState(reaper, Thread.State.WAITING);
        }
        adder.join();
        reaper.join();
        boolean taken = timer.advanceClock(0);
        executor.settle();
        if (ran.contains("late")) {
            return null;
        }
        long waited = now() - (startMs + TICK_MS + 50);
        int queued = queue.size();
        awaitTime(laterBucketMs + TICK_MS);
        timer.advanceClock(0);
        executor.settle();
        return "late was due " + waited + " ms ago and its add had returned; advanceClock returned "
                + taken + "; one bucket stood " + queued + " times in the queue; ran after one more "
                + "tick: " + List.copyOf(ran);
    }

    /** Two threads advance; the bucket that the first has polled gets a later key meanwhile. */
    private String clockAhead() throws Exception {
        long laterBucketMs = startMs + INTERVAL_MS;
        timer.add(task("cascading", laterBucketMs + TICK_MS + 50));
        timer.add(task("first", startMs + TICK_MS + 50));
        awaitTime(laterBucketMs);
        queue.stopNextPoll = new CountDownLatch(1);
        CountDownLatch gate = queue.stopNextPoll;
        Thread one = start(() -> timer.advanceClock(0));
        awaitState(one, Thread.State.WAITING);
        timer.advanceClock(0);
        gate.countDown();
        one.join();
        executor.settle();
        long early = laterBucketMs + TICK_MS - now();
        return ran.contains("cascading") && early > 0
                ? "cascading ran " + early + " ms before the tick in which it is due" : null;
    }

    /** The task is cancelled between the test for that and the submission. */
    private String submittedAfterCancel() throws Exception {
        NamedTask task = task("cancelled", startMs + TICK_MS + 10);
        timer.add(task);
        awaitTime(startMs + TICK_MS + 20);
        executor.beforeSubmit = task::cancel;
        timer.advanceClock(0);
        executor.settle();
        return ran.contains("cancelled")
                ? "cancel had returned before the task was submitted, and it ran" : null;
    }

    /** A task that is not due yet is added after close. */
    private String lostAfterClose() throws Exception {
        timer.close();
        timer.add(task("lost", startMs + INTERVAL_MS));
        return timer.size() == 1
                ? "add after close returned normally; size() is 1 and no thread is left to run it"
                : null;
    }

    /** No level of a wheel with one bucket spans a tick that lies ahead. */
    private String oneBucket() {
        SystemTimer oneBucket = new SystemTimer("one bucket", TICK_MS, 1, startMs);
        try {
            oneBucket.add(task("ahead", startMs + INTERVAL_MS));
            return null;
        } catch (StackOverflowError error) {
            return "add threw StackOverflowError";
        }
    }

    /** The interval of a high level overflows 64 bits: its bucket is due before its entry is. */
    private String endlessFlush() throws Exception {
        SystemTimer usual = new SystemTimer("endless flush");
        usual.add(task("never", Long.MAX_VALUE / 4));
        Thread reaper = start(() -> usual.advanceClock(0));
        reaper.join(ENDLESS_MS);
        Thread adder = start(() -> usual.add(task("other", 0)));
        adder.join(ENDLESS_MS);
        return reaper.isAlive() && adder.isAlive()
                ? "after add with a delay of 2^61 ms, advanceClock(0) has flushed for "
                        + 2 * ENDLESS_MS + " ms under the write lock; another add is blocked"
                : null;
    }

    /** One advance raises; what is added afterwards is accepted, and nobody advances any more. */
    private String reaperEndsAtError() throws Exception {
        SystemTimer usual = new SystemTimer("confirm", TICK_MS, WHEEL_SIZE, startMs);
        SystemTimerReaper reaper = new SystemTimerReaper("confirm", new RaisesOnce(usual));
        Field field = SystemTimerReaper.class.getDeclaredField("reaper");
        field.setAccessible(true);
        Thread thread = (Thread) field.get(reaper);
        thread.join(ENDLESS_MS);
        reaper.add(task("afterwards", now() + TICK_MS));
        String observed = thread.isAlive() ? null : "one advanceClock raised, and the thread of the "
                + "reaper is " + thread.getState() + "; an add was accepted afterwards, "
                + reaper.size() + " task waits, and nobody advances";
        reaper.close();
        usual.close();
        return observed;
    }

    private NamedTask task(String name, long deadlineMs) {
        return new NamedTask(name, deadlineMs - now());
    }

    private static Field field(String name) throws NoSuchFieldException {
        Field field = SystemTimer.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static long now() {
        return Time.SYSTEM.hiResClockMs();
    }

    private static void awaitTime(long timeMs) throws InterruptedException {
        while (now() < timeMs) {
            Thread.sleep(1);
        }
    }

    private static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static Thread start(Step step) {
        Thread thread = new Thread(() -> {
            try {
                step.run();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private final class NamedTask extends TimerTask {
        private final String name;

        NamedTask(String name, long delayMs) {
            super(delayMs);
            this.name = name;
        }

        @Override
        public void run() {
            ran.add(name);
        }
    }

    /** A delay queue in which a thread can be stopped before an offer or after a poll. */
    @SuppressWarnings("serial")
    private static final class GatedQueue extends DelayQueue<TimerTaskList> {
        private volatile CountDownLatch stopOffers;
        private volatile CountDownLatch stopNextPoll;

        @Override
        public boolean offer(TimerTaskList bucket) {
            await(stopOffers);
            return super.offer(bucket);
        }

        @Override
        public TimerTaskList poll(long timeout, TimeUnit unit) throws InterruptedException {
            TimerTaskList bucket = super.poll(timeout, unit);
            CountDownLatch gate = stopNextPoll;
            stopNextPoll = null;
            await(gate);
            return bucket;
        }

        private static void await(CountDownLatch gate) {
            try {
                if (gate != null) {
                    gate.await();
                }
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    /** The timer's executor of one thread, which can be told to do something before a submission. */
    private static final class GatedExecutor extends ThreadPoolExecutor {
        private volatile Runnable beforeSubmit = () -> { };

        GatedExecutor() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public Future<?> submit(Runnable task) {
            beforeSubmit.run();
            return super.submit(task);
        }

        /** Waits until everything submitted before has run. */
        void settle() throws Exception {
            super.submit(() -> { }).get();
        }
    }
}
