package wheelproof.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A hashed wheel with a thread of its own, as a project releases it.
 *
 * @param start starts the wheel's thread
 * @param stop ends it, and waits for it
 * @param pending tells how many tasks the wheel counts
 */
record Wheel(Runnable start, Runnable stop, Adding adding, LongSupplier pending) {
    /** How a task is handed in. */
    interface Adding {
        /** Hands in a task, and returns what cancels it. */
        BooleanSupplier add(Runnable body, long delayMs);
    }

    /** How a wheel is made. */
    interface Maker {
        /** Makes a wheel. */
        Wheel make(long tickMs, int wheelSize);
    }

    /** Returns how the wheels of a project are made: netty or dubbo. */
    static Maker of(String project) {
        return switch (project) {
            case "netty" -> Wheel::netty;
            case "dubbo" -> Wheel::dubbo;
            default -> throw new IllegalArgumentException("no wheel of " + project + " is here");
        };
    }

    private static Wheel netty(long tickMs, int wheelSize) {
        var timer = new HashedWheelTimer(
                new DefaultThreadFactory("wheel", true), tickMs, TimeUnit.MILLISECONDS, wheelSize, false);
        return new Wheel(timer::start, timer::stop,
                (body, delayMs) ->
                        timer.newTimeout(expired -> body.run(), delayMs, TimeUnit.MILLISECONDS)::cancel,
                timer::pendingTimeouts);
    }

    private static Wheel dubbo(long tickMs, int wheelSize) {
        var timer = new org.apache.dubbo.common.timer.HashedWheelTimer(
                new DefaultThreadFactory("wheel", true), tickMs, TimeUnit.MILLISECONDS, wheelSize);
        return new Wheel(timer::start, timer::stop,
                (body, delayMs) ->
                        timer.newTimeout(expired -> body.run(), delayMs, TimeUnit.MILLISECONDS)::cancel,
                timer::pendingTimeouts);
    }
}
