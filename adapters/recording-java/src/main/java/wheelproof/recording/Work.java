package wheelproof.recording;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** What each caller has to do, as `wheelproof load` wrote it. */
public record Work(JsonNode config, int callers, List<JsonNode> steps) {
    /** Makes the call of a step. */
    public interface Performer {
        void perform(JsonNode step) throws Exception;
    }

    /** Returns what one more thread does over and over, as the caller behind the last one. */
    public List<JsonNode> serving() {
        return steps.stream().filter(step -> step.path("caller").asInt(-1) == callers).toList();
    }

    /** Does the work in a thread for each caller; throws what the first failure threw. */
    public void act(Performer performer) throws Exception {
        CyclicBarrier allCome = new CyclicBarrier(callers);
        AtomicReference<Exception> failure = new AtomicReference<>();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            int caller = i;
            Thread thread = new Thread(() -> {
                try {
                    actAs(caller, performer, allCome);
                } catch (BrokenBarrierException broken) {
                    // Another one failed, and says so.
                } catch (Exception error) {
                    failure.compareAndSet(null, error);
                    allCome.reset();
                }
            }, "caller");
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    private void actAs(int caller, Performer performer, CyclicBarrier allCome) throws Exception {
        for (JsonNode step : steps) {
            // A meeting has no caller: it is everybody's.
            if (step.path("caller").asInt(caller) != caller) {
                continue;
            }
            switch (step.get("op").asText()) {
                case "meet" -> allCome.await();
                case "pause" -> LockSupport.parkNanos(
                        step.get("args").get("us").asLong() * 1_000);
                default -> performer.perform(step);
            }
        }
    }
}
