package wheelproof.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import wheelproof.recording.Recording;
import wheelproof.recording.TimerLoad;
import wheelproof.recording.TimerUnderLoad;

/** Netty's HashedWheelTimer as it is, with its own thread. */
final class HashedWheelUnderLoad implements TimerUnderLoad {
    /** A tick twice as long as the lateness: who rounds down is late by more than that. */
    private static final TimerLoad.Settings SETTINGS = new TimerLoad.Settings(500, 16, 250);

    private final HashedWheelTimer timer = new HashedWheelTimer(
            new DefaultThreadFactory("wheel", true), SETTINGS.tickMs(), TimeUnit.MILLISECONDS,
            SETTINGS.wheelSize(), false);

    /** Returns a load for such a timer. */
    static TimerLoad load() {
        return new TimerLoad(SETTINGS, recorder -> new HashedWheelUnderLoad());
    }

    @Override
    public Task task(long delayMs, Runnable body) {
        return new NettyTask(delayMs, body);
    }

    @Override
    public boolean takesTasksAgain() {
        return false;
    }

    /** What is cancelled is counted until the next tick. */
    @Override
    public boolean tellsItsSize() {
        return false;
    }

    @Override
    public int size() {
        return Math.toIntExact(timer.pendingTimeouts());
    }

    /** Stop waits for the wheel's thread. */
    @Override
    public void finish() throws InterruptedException {
        Recording.awaitQuiet(() -> size() == 0);
        timer.stop();
    }

    private final class NettyTask implements Task {
        private final long delayMs;
        private final Runnable body;
        private volatile Timeout timeout;

        NettyTask(long delayMs, Runnable body) {
            this.delayMs = delayMs;
            this.body = body;
        }

        @Override
        public void add() {
            timeout = timer.newTimeout(expired -> body.run(), delayMs, TimeUnit.MILLISECONDS);
        }

        @Override
        public boolean canBeCancelled() {
            return timeout != null;
        }

        @Override
        public Map<String, ?> cancel() {
            return Map.of("cancelled", timeout.cancel());
        }
    }
}
