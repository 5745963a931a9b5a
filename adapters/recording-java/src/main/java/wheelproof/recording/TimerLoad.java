package wheelproof.recording;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;

/** Callers that add, cancel one another's tasks, add again, and ask for the size. */
public final class TimerLoad implements Load {
    private static final int RECENT = 64;

    /** What a timer promises; `latenessMs` is how late its tasks may be on a busy machine. */
    public record Settings(long tickMs, int wheelSize, long latenessMs) {}

    private record Named(String name, long delayMs, TimerUnderLoad.Task task) {}

    private final Settings settings;
    private final Function<Recorder, TimerUnderLoad> make;
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicReferenceArray<Named> recent = new AtomicReferenceArray<>(RECENT);
    private Recorder recorder;
    private TimerUnderLoad timer;

    /** Makes a load for a timer that is made when it begins. */
    public TimerLoad(Settings settings, Function<Recorder, TimerUnderLoad> make) {
        this.settings = settings;
        this.make = make;
    }

    @Override
    public Map<String, ?> config() {
        return Recorder.fields(
                "tick_ms", settings.tickMs, "wheel_size", settings.wheelSize, "runs", "later",
                "lateness_ms", settings.latenessMs);
    }

    @Override
    public String refusal(Exception error) {
        return null;
    }

    @Override
    public void run(Recorder recorder, Callers callers) throws Exception {
        this.recorder = recorder;
        timer = make.apply(recorder);
        callers.act((dice, caller) -> act(dice));
        timer.finish();
    }

    private void act(SplittableRandom dice) throws Exception {
        int choice = dice.nextInt(100);
        Named known = recent.get(dice.nextInt(RECENT));
        if (choice < 5 && timer.tellsItsSize()) {
            recorder.call("size", Map.of(), () -> Map.of("size", timer.size()));
        } else if (choice < 30 && known != null && known.task.canBeCancelled()) {
            recorder.call("cancel", Map.of("task", known.name), known.task::cancel);
        } else if (choice < 35 && known != null && timer.takesTasksAgain()) {
            add(known);
        } else {
            addNew(dice);
        }
    }

    private void addNew(SplittableRandom dice) throws Exception {
        String name = "t" + made.getAndIncrement();
        long delayMs = delayMs(dice);
        Named task = new Named(name, delayMs, timer.task(
                delayMs, () -> recorder.happens("run", Map.of("task", name))));
        // Published first: others may cancel it, or add it again, while it is being added.
        recent.set(dice.nextInt(RECENT), task);
        add(task);
    }

    private void add(Named task) throws Exception {
        recorder.call("add", Map.of("task", task.name, "delay_ms", task.delayMs), () -> {
            task.task.add();
            return Map.of();
        });
    }

    /** Half of them in the lowest of Kafka's wheels, and some on each of the next two. */
    private static long delayMs(SplittableRandom dice) {
        int choice = dice.nextInt(100);
        if (choice < 5) {
            return 0;
        }
        if (choice < 55) {
            return dice.nextLong(1, 20);
        }
        return choice < 90 ? dice.nextLong(20, 200) : dice.nextLong(200, 600);
    }
}
