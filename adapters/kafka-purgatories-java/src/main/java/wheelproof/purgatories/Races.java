package wheelproof.purgatories;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import wheelproof.recording.PurgatoryUnderLoad;
import wheelproof.recording.PurgatoryUnderLoad.Operation;

/**
 * The counterexamples of docs/purgatory-disciplines.md, each on the classes of one version.
 *
 * <p>A thread is held inside a predicate, as a scheduler could hold it; what others can do meanwhile
 * is printed as one JSON object: a promise, and whether it was broken.
 */
final class Races {
    private static final String KEY = "key";
    private static final long LATER_MS = 60_000;
    private static final long ENOUGH_MS = 10_000;
    /** Whoever does not come in this time is blocked. */
    private static final long BLOCKED_MS = 500;

    private final OldPurgatory purgatory = new OldPurgatory(1_000);
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final CountDownLatch completed = new CountDownLatch(1);
    private final CountDownLatch callbackEnds = new CountDownLatch(1);
    /** What the user of the purgatory has of its own; predicates take it. */
    private final ReentrantLock user = new ReentrantLock();
    private volatile boolean holds;
    private volatile boolean raises;
    private volatile boolean holding;
    private volatile boolean holdingAfterTest;
    private volatile boolean holdingCallback;
    private volatile int triesAfterCompletion;

    private Races() {}

    /** Prints what this version breaks, and ends the program with all threads that are left. */
    static void run(String version) throws Exception {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("version", version);
        seen.put("try_complete_and_on_complete_overlap",
                new Races().overlap() || new Races().lateTry(true));
        seen.put("try_complete_after_completion", new Races().lateTry(false));
        seen.put("trigger_is_lost", new Races().lostTrigger(false, false));
        if (OldPurgatory.takesLock()) {
            seen.put("trigger_is_lost_if_others_hold_the_lock",
                    new Races().lostTrigger(true, false));
        }
        seen.put("trigger_is_lost_if_a_predicate_raises", new Races().lostTrigger(false, true));
        seen.put("trigger_waits", new Races().triggerWaits());
        seen.put("deadlock_with_a_lock_around_the_watch", new Races().deadlock());
        System.out.println(new ObjectMapper().writeValueAsString(seen));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Somebody completes by force, as an expiry does, while another thread tests the predicate. */
    private boolean overlap() throws Exception {
        Operation operation = watched(null);
        Thread trier = holdOneInPredicate();
        Thread forcer = start(operation::forceComplete);
        boolean overlaps = completed.await(BLOCKED_MS, TimeUnit.MILLISECONDS);
        goOn.countDown();
        end(trier, forcer);
        return overlaps;
    }

    /** The predicate becomes true, and is triggered, while another thread has found it false. */
    private boolean lostTrigger(boolean byStranger, boolean raising) throws Exception {
        raises = raising;
        ReentrantLock lock = new ReentrantLock();
        watched(byStranger ? lock : null);
        Thread other = byStranger ? holdLock(lock) : holdOneInPredicate();
        holds = true;
        Thread trigger = start(() -> purgatory.checkAndComplete(KEY));
        trigger.join(BLOCKED_MS);
        goOn.countDown();
        end(other, trigger);
        return completed.getCount() > 0;
    }

    /** A trigger comes while another thread tests the predicate. */
    private boolean triggerWaits() throws Exception {
        watched(null);
        Thread trier = holdOneInPredicate();
        Thread trigger = start(() -> purgatory.checkAndComplete(KEY));
        trigger.join(BLOCKED_MS);
        boolean waits = trigger.isAlive();
        goOn.countDown();
        end(trier, trigger);
        return waits;
    }

    /**
     * A trigger has seen that the operation is not done; then it is completed by force.
     *
     * <p>Returns whether the trigger tries it all the same, if asked so while on_complete runs.
     */
    private boolean lateTry(boolean duringCallback) throws Exception {
        Operation operation = watched(null);
        holdingAfterTest = true;
        Thread trigger = start(() -> purgatory.checkAndComplete(KEY));
        await(held);
        holdingCallback = duringCallback;
        Thread forcer = start(operation::forceComplete);
        await(completed);
        goOn.countDown();
        trigger.join(BLOCKED_MS);
        callbackEnds.countDown();
        end(trigger, forcer);
        return triesAfterCompletion > 0;
    }

    /** One thread tests a predicate that takes a lock; another one watches under that lock. */
    private boolean deadlock() throws Exception {
        watched(null);
        Thread trier = holdOneInPredicate();
        Thread watcher = start(() -> {
            user.lock();
            try {
                watched(null);
            } finally {
                user.unlock();
            }
        });
        watcher.join(BLOCKED_MS);
        goOn.countDown();
        trier.join(BLOCKED_MS);
        return trier.isAlive() && watcher.isAlive();
    }

    private Operation watched(Lock lock) {
        Operation operation = purgatory.operation(LATER_MS, new Held(), lock, this::afterTest);
        purgatory.tryCompleteElseWatch(operation, List.of(KEY));
        return operation;
    }

    private void afterTest() {
        if (holdingAfterTest) {
            holdingAfterTest = false;
            held.countDown();
            await(goOn);
        }
    }

    private Thread holdOneInPredicate() {
        holding = true;
        Thread trier = start(() -> purgatory.checkAndComplete(KEY));
        await(held);
        return trier;
    }

    private Thread holdLock(Lock lock) {
        Thread stranger = start(() -> {
            lock.lock();
            try {
                held.countDown();
                await(goOn);
            } finally {
                lock.unlock();
            }
        });
        await(held);
        return stranger;
    }

    private void end(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(ENOUGH_MS);
            if (thread.isAlive()) {
                throw new IllegalStateException(thread + " is blocked for good");
            }
        }
        purgatory.shutdown();
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(work);
        // What a predicate raises comes out of the trigger that has tested it.
        thread.setUncaughtExceptionHandler((raiser, error) -> {});
        thread.start();
        return thread;
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(ENOUGH_MS, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("nobody came");
            }
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    private final class Held implements PurgatoryUnderLoad.Body {
        @Override
        public boolean tryComplete(Operation operation) {
            if (completed.getCount() == 0) {
                triesAfterCompletion++;
            }
            boolean found = holds;
            if (holding) {
                holding = false;
                held.countDown();
                Races.await(goOn);
                if (raises) {
                    throw new IllegalStateException("as the race wants it");
                }
            }
            user.lock();
            user.unlock();
            return found && operation.forceComplete();
        }

        @Override
        public void onComplete() {
            completed.countDown();
            if (holdingCallback) {
                Races.await(callbackEnds);
            }
        }

        @Override
        public void onExpiration() {}
    }
}
