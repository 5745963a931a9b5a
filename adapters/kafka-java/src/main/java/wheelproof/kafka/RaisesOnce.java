package wheelproof.kafka;

import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

/** A timer whose first advance raises; whoever made the timer behind it closes that. */
public final class RaisesOnce implements Timer {
    private final Timer timer;
    private boolean raised;

    /** Makes a timer that is {@code timer} but for its first advance. */
    public RaisesOnce(Timer timer) {
        this.timer = timer;
    }

    @Override
    public void add(TimerTask task) {
        timer.add(task);
    }

    @Override
    public boolean advanceClock(long timeoutMs) throws InterruptedException {
        if (!raised) {
            raised = true;
            throw new IllegalStateException("an advance raises, once");
        }
        return timer.advanceClock(timeoutMs);
    }

    @Override
    public int size() {
        return timer.size();
    }

    @Override
    public void close() {}
}
