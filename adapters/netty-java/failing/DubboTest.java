import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.threadpool.MemoryLimitedLinkedBlockingQueue;
import org.apache.dubbo.common.timer.HashedWheelTimer;
import org.apache.dubbo.common.timer.Timeout;

/** Tests of Dubbo alone, a defect beside its nearest case that is right. */
public final class DubboTest {
    /** How long a test looks at what should not last. */
    private static final long LOOK_MS = 1_000;

    /** An item of the queue, which is a task as well; `sized` runs when its size is asked for. */
    private static final class Item implements Runnable {
        private final long bytes;
        private final Runnable body;
        private volatile Runnable sized = () -> {};

        Item(long bytes, Runnable body) {
            this.bytes = bytes;
            this.body = body;
        }

        long size() {
            sized.run();
            return bytes;
        }

        @Override
        public void run() {
            body.run();
        }
    }

    private interface Put {
        void put() throws InterruptedException;
    }

    private interface Test {
        /** Returns what is wrong, or an empty text. */
        String problem() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        boolean failed = run("whatIsCancelledInAnotherBucketIsCountedOnce",
                () -> countOf(false));
        failed |= run("whatIsCancelledWithinItsTickIsCountedOnce", () -> countOf(true));
        failed |= run("aWaiterThatFitsIsServed", () -> served(70));
        failed |= run("aWaiterThatFitsIsServedBehindOneThatNeverDoes", () -> served(100));
        failed |= run("aShutdownBeforeATakeLosesNoTask", () -> lost(false));
        failed |= run("aShutdownDuringATakeLosesNoTask", () -> lost(true));
        System.exit(failed ? 1 : 0);
    }

    private static boolean run(String name, Test test) throws Exception {
        String problem = test.problem();
        System.out.println((problem.isEmpty() ? "--- PASS: " : "--- FAIL: ") + name);
        if (!problem.isEmpty()) {
            System.out.println("    " + problem);
        }
        return !problem.isEmpty();
    }

    /** A task cancels another: one of its own tick, or one in another bucket. */
    private static String countOf(boolean ofTheSameTick) throws Exception {
        HashedWheelTimer timer = new HashedWheelTimer(
                Executors.defaultThreadFactory(), 10, TimeUnit.MILLISECONDS, 8, 3);
        CountDownLatch added = new CountDownLatch(1);
        CountDownLatch later = new CountDownLatch(1);
        Timeout[] second = new Timeout[1];
        timer.newTimeout(expired -> {
            added.await();
            second[0].cancel();
        }, 0, TimeUnit.MILLISECONDS);
        second[0] = timer.newTimeout(
                expired -> {}, ofTheSameTick ? 0 : 3_600_030, TimeUnit.MILLISECONDS);
        added.countDown();
        // Two ticks later the wheel has taken out what was cancelled.
        timer.newTimeout(expired -> timer.newTimeout(
                again -> later.countDown(), 50, TimeUnit.MILLISECONDS), 50, TimeUnit.MILLISECONDS);
        later.await();
        while (timer.pendingTimeouts() > 0) {
            Thread.onSpinWait();
        }
        long pending = timer.pendingTimeouts();
        int taken = 0;
        try {
            for (; taken < 10; taken++) {
                timer.newTimeout(expired -> {}, 1, TimeUnit.HOURS);
            }
        } catch (RejectedExecutionException full) {
            // The limit of three.
        }
        timer.stop();
        return pending == 0 && taken == 3
                ? "" : "nothing waits, and " + pending + " are counted; of at most 3 it takes " + taken;
    }

    /** One waits with an item of a size, and behind it one with an item of 50; all room comes free. */
    private static String served(long sizeOfTheFirst) throws Exception {
        MemoryLimitedLinkedBlockingQueue<Item> queue =
                new MemoryLimitedLinkedBlockingQueue<>(100, byOwnSize());
        queue.put(new Item(60, () -> {}));
        waiting(() -> queue.put(new Item(sizeOfTheFirst, () -> {})));
        Thread second = waiting(() -> queue.put(new Item(50, () -> {})));
        queue.take();
        if (sizeOfTheFirst < 100) {
            // The first item fits; the second does when that one has been taken.
            queue.take();
        }
        second.join(LOOK_MS);
        return second.isAlive()
                ? "a put of 50 bytes waits, and " + queue.getCurrentRemainMemory() + " of 100 are free" : "";
    }

    /** A pool is shut down when its worker waits for a task, or while it takes one. */
    private static String lost(boolean duringTake) throws Exception {
        MemoryLimitedLinkedBlockingQueue<Runnable> queue =
                new MemoryLimitedLinkedBlockingQueue<>(100, byOwnSize());
        Thread[] worker = new Thread[1];
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                1, 1, 0, TimeUnit.MILLISECONDS, queue, body -> worker[0] = new Thread(body));
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch measuring = new CountDownLatch(1);
        CountDownLatch measured = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        pool.execute(new Item(10, () -> await(busy)));
        // The pool hands its first task to the worker; those behind it wait in the queue.
        Item slow = new Item(10, () -> {});
        queue.put(slow);
        pool.execute(new Item(10, done::countDown));
        if (duringTake) {
            // Somebody gives memory back, and has the limiter's lock while it asks for the size.
            slow.sized = () -> {
                measuring.countDown();
                await(measured);
            };
        }
        Thread other = new Thread(() -> queue.remove(slow));
        other.start();
        if (duringTake) {
            measuring.await();
        } else {
            other.join();
        }
        busy.countDown();
        while (!queue.isEmpty()) {
            Thread.onSpinWait();
        }
        if (duringTake) {
            awaitWaiting(worker[0]);
        }
        pool.shutdown();
        if (duringTake) {
            // The worker ends, or waits for the lock again.
            worker[0].join(LOOK_MS);
        }
        measured.countDown();
        other.join();
        pool.awaitTermination(1, TimeUnit.HOURS);
        return done.getCount() == 0
                ? "" : "the pool took a task, has shut down in order, and has not run it; "
                        + queue.getCurrentMemory() + " bytes are counted for an empty queue";
    }

    private static Thread waiting(Put put) {
        Thread thread = new Thread(() -> {
            try {
                put.put();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
        awaitWaiting(thread);
        return thread;
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The limiter asks an agent of the virtual machine for sizes; here each item says its own. */
    private static Instrumentation byOwnSize() {
        return (Instrumentation) Proxy.newProxyInstance(
                DubboTest.class.getClassLoader(), new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) -> ((Item) arguments[0]).size());
    }
}
