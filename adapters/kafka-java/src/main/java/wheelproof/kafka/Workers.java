package wheelproof.kafka;

/**
 * Threads that make calls which may block; counts those that can go on.
 *
 * <p>Whoever wakes a thread counts it, and a thread that is about to wait counts itself out. So no
 * moment exists at which a thread that can go on is not counted.
 */
public final class Workers {
    private int running;

    /** Starts a thread. */
    public Thread start(Runnable body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } finally {
                pause();
            }
        });
        thread.setDaemon(true);
        resume();
        thread.start();
        return thread;
    }

    /** Counts a thread that goes on. */
    public synchronized void resume() {
        running++;
    }

    /** Counts a thread out that waits from now on, or has ended. */
    public synchronized void pause() {
        running--;
        notifyAll();
    }

    /** Waits until every thread waits or has ended. */
    public synchronized void awaitQuiet() throws InterruptedException {
        while (running > 0) {
            wait();
        }
    }
}
