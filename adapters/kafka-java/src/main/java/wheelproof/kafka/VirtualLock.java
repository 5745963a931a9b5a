package wheelproof.kafka;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.internals.BufferPool;

/** A lock on whose conditions time-outs are measured by a virtual clock. */
@SuppressWarnings("serial")
public final class VirtualLock extends ReentrantLock {
    private final VirtualTime time;
    private final Workers workers;
    /** The longest-waiting first; guarded by the lock. */
    private final Set<Wait> waits = new LinkedHashSet<>();

    /** Takes the place of the lock of `pool`. */
    public static VirtualLock install(BufferPool pool, VirtualTime time, Workers workers) {
        VirtualLock virtual = new VirtualLock(time, workers);
        Internals.set(BufferPool.class, pool, "lock", virtual);
        return virtual;
    }

    private VirtualLock(VirtualTime time, Workers workers) {
        this.time = time;
        this.workers = workers;
    }

    @Override
    public Condition newCondition() {
        return new VirtualCondition(super.newCondition());
    }

    /** Ends the waits whose time is over. */
    public void expire() {
        lock();
        try {
            for (Wait wait : List.copyOf(waits)) {
                if (wait.deadlineNs <= time.nanoseconds() && wait.resume()) {
                    wait.condition.signal();
                }
            }
        } finally {
            unlock();
        }
    }

    /** Interrupts a thread, which may wait here. */
    public void interrupt(Thread thread) {
        lock();
        try {
            waits.stream().filter(wait -> wait.thread == thread).forEach(Wait::resume);
            thread.interrupt();
        } finally {
            unlock();
        }
    }

    private final class Wait {
        private final Thread thread = Thread.currentThread();
        private final Condition condition;
        private final long deadlineNs;
        private boolean goesOn;
        private boolean signalled;

        Wait(Condition condition, long deadlineNs) {
            this.condition = condition;
            this.deadlineNs = deadlineNs;
        }

        /** Tells whether this was the first reason to go on. */
        boolean resume() {
            boolean first = !goesOn;
            if (first) {
                goesOn = true;
                workers.resume();
            }
            return first;
        }
    }

    private final class VirtualCondition extends TimedCondition {
        private final Condition real;

        VirtualCondition(Condition real) {
            this.real = real;
        }

        @Override
        public boolean await(long limit, TimeUnit unit) throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long deadlineNs = time.nanoseconds() + Math.max(unit.toNanos(limit), 0);
            if (deadlineNs == time.nanoseconds()) {
                return false;
            }
            Wait wait = new Wait(real, deadlineNs < 0 ? Long.MAX_VALUE : deadlineNs);
            waits.add(wait);
            workers.pause();
            try {
                while (!wait.goesOn) {
                    real.await();
                }
            } finally {
                waits.remove(wait);
            }
            return wait.signalled;
        }

        @Override
        public void signal() {
            for (Wait wait : waits) {
                if (wait.condition == real && wait.resume()) {
                    wait.signalled = true;
                    real.signal();
                    return;
                }
            }
        }
    }
}
