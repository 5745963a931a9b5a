package wheelproof.ports;

import com.typesafe.config.ConfigFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.event.NoLogging;
import scala.concurrent.ExecutionContext;
import scala.concurrent.duration.FiniteDuration;

/**
 * Pekko's LightArrayRevolverScheduler, on a clock that replaces {@code clock} and {@code waitNanos}
 * as its own tests do. Tasks run on the scheduler's thread.
 */
final class PekkoPort implements Port {
    /**
     * "ticks-per-wheel must be a power of 2", a delay has at most Int.MaxValue ticks, and the clock
     * counts nanoseconds in a long.
     */
    static final Map<String, Map<String, Object>> BOUNDS = Map.of(
            "wheel_size", Map.of("power_of_two", true),
            "delay_ms", Map.of("most", Integer.MAX_VALUE),
            "start_ms", Map.of("most", 1L << 42));

    private static final ExecutionContext AT_ONCE = ExecutionContext.fromExecutor(Runnable::run);

    private final SteppedClock clock;
    private final LightArrayRevolverScheduler scheduler;
    private final Map<String, Cancellable> handles = new HashMap<>();
    private final Consumer<String> ran;

    PekkoPort(long tickMs, int wheelSize, long startMs, Consumer<String> ran) {
        this.ran = ran;
        // The scheduler's ticks are counted from its start, those of a profile from 0.
        SteppedClock stepped = new SteppedClock(nanos(startMs - startMs % tickMs));
        clock = stepped;
        Map<String, Object> settings = Map.of(
                "pekko.scheduler.ticks-per-wheel", wheelSize,
                "pekko.scheduler.tick-duration", tickMs + " ms",
                "pekko.scheduler.error-on-tick-duration-verification-failed", true,
                "pekko.scheduler.shutdown-timeout", "10 s");
        // The constructor reads the clock and starts the thread. A captured variable is there by
        // then, a field of the subclass is not.
        scheduler = new LightArrayRevolverScheduler(
                ConfigFactory.parseMap(settings), NoLogging.getInstance(), PekkoPort::daemon) {
            @Override
            public long clock() {
                return stepped.nanos();
            }

            @Override
            public void waitNanos(long nanos) {
                stepped.sleep(nanos);
            }
        };
        advance(startMs);
    }

    private static Thread daemon(Runnable body) {
        Thread thread = new Thread(body, "wheel");
        thread.setDaemon(true);
        return thread;
    }

    private static long nanos(long ms) {
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        FiniteDuration delay = FiniteDuration.apply(delayMs, TimeUnit.MILLISECONDS);
        Runnable run = () -> {
            handles.remove(task);
            ran.accept(task);
        };
        Cancellable handle = scheduler.scheduleOnce(delay, run, AT_ONCE);
        // What is due already has run within the call, and its handle is of no use.
        if (delayMs > 0) {
            handles.put(task, handle);
        }
    }

    @Override
    public boolean cancel(String task) {
        Cancellable handle = handles.remove(task);
        return handle != null && handle.cancel();
    }

    @Override
    public void advance(long toMs) {
        clock.advanceTo(nanos(toMs));
    }

    @Override
    public void close() {
        clock.end();
        scheduler.close();
    }
}
