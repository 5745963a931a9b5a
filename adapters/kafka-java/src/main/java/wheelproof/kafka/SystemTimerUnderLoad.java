package wheelproof.kafka;

import java.util.Map;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;
import wheelproof.recording.Recorder;
import wheelproof.recording.Recording;
import wheelproof.recording.TimerLoad;
import wheelproof.recording.TimerUnderLoad;

/** Kafka's SystemTimer as it is, with one thread that advances it. */
final class SystemTimerUnderLoad implements TimerUnderLoad {
    private static final TimerLoad.Settings SETTINGS = new TimerLoad.Settings(1, 20, 500);
    private static final long ADVANCE_MS = 10;

    private final SystemTimer timer = new SystemTimer(
            "record", SETTINGS.tickMs(), SETTINGS.wheelSize(), Time.SYSTEM.hiResClockMs());
    private final Recorder recorder;
    private final Thread reaper = new Thread(this::reap, "reaper");
    private volatile boolean finished;

    private SystemTimerUnderLoad(Recorder recorder) {
        this.recorder = recorder;
    }

    /** Returns a load for such a timer. */
    static TimerLoad load() {
        return new TimerLoad(SETTINGS, recorder -> {
            SystemTimerUnderLoad timer = new SystemTimerUnderLoad(recorder);
            timer.reaper.start();
            return timer;
        });
    }

    @Override
    public Task task(long delayMs, Runnable body) {
        return new KafkaTask(delayMs, body);
    }

    @Override
    public boolean takesTasksAgain() {
        return true;
    }

    @Override
    public boolean tellsItsSize() {
        return true;
    }

    @Override
    public int size() {
        return timer.size();
    }

    /** Close lets the executor end what was submitted. */
    @Override
    public void finish() throws InterruptedException {
        Recording.awaitQuiet(() -> timer.size() == 0);
        finished = true;
        reaper.join();
        timer.close();
    }

    private void reap() {
        try {
            while (!finished) {
                recorder.call("advance_clock", Map.of("timeout_ms", ADVANCE_MS),
                        () -> Map.of("expired", timer.advanceClock(ADVANCE_MS)));
            }
        } catch (Exception error) {
            throw new IllegalStateException("the timer cannot be advanced", error);
        }
    }

    private final class KafkaTask implements Task {
        private final TimerTask task;

        KafkaTask(long delayMs, Runnable body) {
            task = new TimerTask(delayMs) {
                @Override
                public void run() {
                    body.run();
                }
            };
        }

        @Override
        public void add() {
            timer.add(task);
        }

        @Override
        public boolean canBeCancelled() {
            return true;
        }

        /** Kafka does not say whether it came in time. */
        @Override
        public Map<String, ?> cancel() {
            task.cancel();
            return Map.of();
        }
    }
}
