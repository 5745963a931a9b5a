package org.apache.kafka.server.util.timer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kafka's TimingWheel and TimerTaskList on a clock that the caller moves.
 *
 * <p>It takes the place of SystemTimer, which reads the machine's clock, and does the same steps:
 * to submit a task means here to note its name.
 */
final class VirtualTimer {
    private final AtomicInteger taskCounter = new AtomicInteger();
    private final DelayQueue<TimerTaskList> delayQueue = new DelayQueue<>();
    private final Map<String, NamedTask> tasks = new HashMap<>();
    private final TimingWheel timingWheel;
    private List<String> submitted = new ArrayList<>();
    private long nowMs;

    VirtualTimer(long tickMs, int wheelSize, long startMs) {
        if (tickMs < 1 || wheelSize < 1 || startMs < 0) {
            throw new IllegalArgumentException("tick_ms and wheel_size begin at 1, start_ms at 0");
        }
        timingWheel = new TimingWheel(tickMs, wheelSize, startMs, taskCounter, delayQueue);
        nowMs = startMs;
    }

    void add(String name, long delayMs) {
        NamedTask task = tasks.get(name);
        if (task == null || task.delayMs != delayMs) {
            // A task's delay is fixed: a different delay is a different task object.
            cancel(name);
            task = new NamedTask(name, delayMs);
            tasks.put(name, task);
        }
        addTimerTaskEntry(new TimerTaskEntry(task, delayMs + nowMs));
    }

    void cancel(String name) {
        NamedTask task = tasks.get(name);
        if (task != null) {
            task.cancel();
        }
    }

    void advance(long toMs) {
        if (toMs < nowMs) {
            throw new IllegalArgumentException("the clock shows " + nowMs + " ms and cannot go back");
        }
        nowMs = toMs;
        for (TimerTaskList bucket = poll(); bucket != null; bucket = poll()) {
            timingWheel.advanceClock(bucket.getExpiration());
            bucket.flush(this::addTimerTaskEntry);
        }
    }

    int size() {
        return taskCounter.get();
    }

    /** Returns the tasks that were submitted since the last call, in order. */
    List<String> takeSubmitted() {
        List<String> taken = submitted;
        submitted = new ArrayList<>();
        return taken;
    }

    private void addTimerTaskEntry(TimerTaskEntry entry) {
        if (!timingWheel.add(entry) && !entry.cancelled()) {
            entry.timerTask.run();
        }
    }

    /** DelayQueue.poll on the virtual clock; the queue's own would ask the machine's. */
    private TimerTaskList poll() {
        TimerTaskList head = delayQueue.peek();
        if (head == null || head.getExpiration() > nowMs) {
            return null;
        }
        delayQueue.remove(head);
        return head;
    }

    private final class NamedTask extends TimerTask {
        private final String name;

        NamedTask(String name, long delayMs) {
            super(delayMs);
            this.name = name;
        }

        @Override
        public void run() {
            submitted.add(name);
        }
    }
}
