package wheelproof.recording;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Threads that call at the same time, each with dice of its own. */
public record Callers(int threads, int operations, long seed, int number) {
    private static final int PAUSES_ONCE_IN = 8;
    private static final long LONGEST_PAUSE_NS = 2_000_000;

    /** One call, or a few that belong together. */
    public interface Action {
        void perform(SplittableRandom dice, int caller) throws Exception;
    }

    /** Lets the callers act until all operations are done; throws what the first failure threw. */
    public void act(Action action) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        AtomicReference<Exception> failure = new AtomicReference<>();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int caller = i;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    actAs(caller, action, failure);
                } catch (Exception error) {
                    failure.compareAndSet(null, error);
                }
            }, "caller");
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    private void actAs(int caller, Action action, AtomicReference<Exception> failure)
            throws Exception {
        SplittableRandom dice =
                new SplittableRandom((seed * 31 + number) * 1_000_003 + caller);
        int share = operations / threads + (caller < operations % threads ? 1 : 0);
        for (int i = 0; i < share && failure.get() == null; i++) {
            action.perform(dice, caller);
            if (dice.nextInt(PAUSES_ONCE_IN) == 0) {
                LockSupport.parkNanos(dice.nextLong(LONGEST_PAUSE_NS));
            }
        }
    }
}
