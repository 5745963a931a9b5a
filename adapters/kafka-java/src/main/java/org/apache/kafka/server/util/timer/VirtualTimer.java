package org.apache.kafka.server.util.timer;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Kafka's TimingWheel and TimerTaskList on a clock that the caller moves.
 *
 * <p>It takes the place of SystemTimer, which reads the machine's clock, and does the same steps;
 * what becomes of a task that is submitted is up to the caller.
 */
public final class VirtualTimer implements Timer {
    private final AtomicInteger taskCounter = new AtomicInteger();
    private final DelayQueue<TimerTaskList> delayQueue = new DelayQueue<>();
    private final TimingWheel timingWheel;
    private final Consumer<TimerTask> submit;
    private long nowMs;

    /** Makes a timer whose clock shows `startMs`. */
    public VirtualTimer(long tickMs, int wheelSize, long startMs, Consumer<TimerTask> submit) {
        if (tickMs < 1 || wheelSize < 1 || startMs < 0) {
            throw new IllegalArgumentException("tick_ms and wheel_size begin at 1, start_ms at 0");
        }
        timingWheel = new TimingWheel(tickMs, wheelSize, startMs, taskCounter, delayQueue);
        nowMs = startMs;
        this.submit = submit;
    }

    /** Sets the clock; nothing is submitted before the next advanceClock. */
    public void setTime(long toMs) {
        if (toMs < nowMs) {
            throw new IllegalArgumentException("the clock shows " + nowMs + " ms and cannot go back");
        }
        nowMs = toMs;
    }

    @Override
    public void add(TimerTask task) {
        addTimerTaskEntry(new TimerTaskEntry(task, task.delayMs + nowMs));
    }

    /** Does not wait: on this clock no time passes meanwhile. */
    @Override
    public boolean advanceClock(long timeoutMs) {
        TimerTaskList bucket = poll();
        boolean taken = bucket != null;
        for (; bucket != null; bucket = poll()) {
            timingWheel.advanceClock(bucket.getExpiration());
            bucket.flush(this::addTimerTaskEntry);
        }
        return taken;
    }

    @Override
    public int size() {
        return taskCounter.get();
    }

    @Override
    public void close() {}

    private void addTimerTaskEntry(TimerTaskEntry entry) {
        if (!timingWheel.add(entry) && !entry.cancelled()) {
            submit.accept(entry.timerTask);
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
}
