package wheelproof.netty;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import wheelproof.recording.Recording;
import wheelproof.recording.TimerLoad;
import wheelproof.recording.TimerUnderLoad;

/** A HashedWheelTimer as it is, with its own thread. */
final class HashedWheelUnderLoad implements TimerUnderLoad {
    /** A tick twice as long as the lateness: who rounds down is late by more than that. */
    private static final TimerLoad.Settings SETTINGS = new TimerLoad.Settings(500, 16, 250);

    private final Wheel wheel;
    /** How many tasks neither ran nor were cancelled: not the wheel's own count, which is judged. */
    private final AtomicLong waiting = new AtomicLong();

    private HashedWheelUnderLoad(Wheel wheel) {
        this.wheel = wheel;
    }

    /** Returns a load for such a timer. */
    static TimerLoad load(Wheel.Maker maker) {
        return new TimerLoad(SETTINGS, recorder -> new HashedWheelUnderLoad(
                maker.make(SETTINGS.tickMs(), SETTINGS.wheelSize())));
    }

    @Override
    public Task task(long delayMs, Runnable body) {
        return new WheelTask(delayMs, body);
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
        return Math.toIntExact(wheel.pending().getAsLong());
    }

    /** Stop waits for the wheel's thread. */
    @Override
    public void finish() throws InterruptedException {
        Recording.awaitQuiet(() -> waiting.get() == 0);
        wheel.stop().run();
    }

    private final class WheelTask implements Task {
        private final long delayMs;
        private final Runnable body;
        private volatile BooleanSupplier cancel;

        WheelTask(long delayMs, Runnable body) {
            this.delayMs = delayMs;
            this.body = body;
        }

        @Override
        public void add() {
            waiting.incrementAndGet();
            cancel = wheel.adding().add(
                    () -> {
                        body.run();
                        waiting.decrementAndGet();
                    },
                    delayMs);
        }

        @Override
        public boolean canBeCancelled() {
            return cancel != null;
        }

        @Override
        public Map<String, ?> cancel() {
            boolean cancelled = cancel.getAsBoolean();
            if (cancelled) {
                waiting.decrementAndGet();
            }
            return Map.of("cancelled", cancelled);
        }
    }
}
