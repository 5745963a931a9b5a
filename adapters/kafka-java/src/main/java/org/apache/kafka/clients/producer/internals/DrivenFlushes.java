package org.apache.kafka.clients.producer.internals;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import wheelproof.kafka.Internals;
import wheelproof.kafka.Workers;

/**
 * Threads that flush.
 *
 * <p>They wait on latches, outside the virtual lock. A thread can go on until it has seen what is
 * incomplete, and again once all of that has ended: both are known without asking the thread.
 */
final class DrivenFlushes extends IncompleteBatches {
    private final Workers workers;
    private final RecordAccumulator accumulator;
    private final Map<String, Thread> threads = new LinkedHashMap<>();
    private final Map<Thread, List<ProduceRequestResult>> awaited = new HashMap<>();
    private final Set<String> interrupted = new HashSet<>();
    private Map<String, Boolean> flushed = new LinkedHashMap<>();

    /** Takes the place of the incomplete batches of a new accumulator. */
    DrivenFlushes(RecordAccumulator accumulator, Workers workers) {
        this.accumulator = accumulator;
        this.workers = workers;
        Internals.set(RecordAccumulator.class, accumulator, "incomplete", this);
    }

    void start(String name) {
        Thread thread = new Thread(() -> flush(name));
        thread.setDaemon(true);
        threads.put(name, thread);
        workers.resume();
        thread.start();
    }

    /** Tells whether `name` is a flush that waits; if so it is interrupted. */
    boolean interrupt(String name) {
        if (!threads.containsKey(name)) {
            return false;
        }
        interrupted.add(name);
        threads.get(name).interrupt();
        return true;
    }

    /** Returns the flushes that have ended since the last time, and whether by an interruption. */
    Map<String, Boolean> takeEnded() throws InterruptedException {
        for (Iterator<String> names = threads.keySet().iterator(); names.hasNext();) {
            String name = names.next();
            Thread thread = threads.get(name);
            if (interrupted.contains(name) || haveEnded(awaitedBy(thread))) {
                thread.join();
                names.remove();
            }
        }
        Map<String, Boolean> taken = flushed;
        flushed = new LinkedHashMap<>();
        return taken;
    }

    /** Called by a thread that flushes, which waits for all these next. */
    @Override
    public Iterable<ProduceRequestResult> requestResults() {
        List<ProduceRequestResult> results = new ArrayList<>();
        super.requestResults().forEach(results::add);
        synchronized (awaited) {
            awaited.put(Thread.currentThread(), results);
        }
        workers.pause();
        return results;
    }

    private void flush(String name) {
        accumulator.beginFlush();
        boolean wasInterrupted = false;
        try {
            accumulator.awaitFlushCompletion();
        } catch (InterruptedException error) {
            wasInterrupted = true;
        }
        synchronized (awaited) {
            flushed.put(name, wasInterrupted);
        }
    }

    private List<ProduceRequestResult> awaitedBy(Thread thread) {
        synchronized (awaited) {
            return awaited.get(thread);
        }
    }

    /** Looks at the results and at those of the batches that theirs were split into. */
    private static boolean haveEnded(List<ProduceRequestResult> results) {
        Queue<ProduceRequestResult> toDo = new ArrayDeque<>(results);
        for (ProduceRequestResult one = toDo.poll(); one != null; one = toDo.poll()) {
            if (!one.completed()) {
                return false;
            }
            Object parts = Internals.get(ProduceRequestResult.class, one, "dependentResults");
            ((List<?>) parts).forEach(part -> toDo.add((ProduceRequestResult) part));
        }
        return true;
    }
}
