package wheelproof.kafka;

import java.util.concurrent.CountDownLatch;

/** Where a thread is held, as a scheduler could hold it, until it is told to go on. */
public final class Gate {
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    /** Holds the calling thread until the gate is open; fails after 10 s. */
    public void pass() {
        arrived.countDown();
        await("a gate is open", open);
    }

    /** Waits until a thread is held here; fails after 10 s. */
    public void awaitArrival() {
        await("a thread has come to a gate", arrived);
    }

    /** Lets everybody through, from now on. */
    public void open() {
        open.countDown();
    }

    private static void await(String condition, CountDownLatch latch) {
        Confirmation.unchecked(
                () -> Confirmation.await(condition, () -> latch.getCount() == 0));
    }
}
