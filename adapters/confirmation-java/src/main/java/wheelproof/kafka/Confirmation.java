package wheelproof.kafka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Repeats counterexamples on Kafka's own classes, one JSON line each. */
public final class Confirmation {
    private static final int ATTEMPTS = 3;
    private static final long LIMIT_MS = 10_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, Scenario> scenarios = new LinkedHashMap<>();

    /** One counterexample, from its beginning. */
    public interface Scenario {
        /** Says what was seen. */
        Observation observe() throws Exception;
    }

    /** What was seen, and whether that is what the finding says. */
    public record Observation(boolean confirmed, String observed) {}

    /** What may throw whatever it calls. */
    public interface Step {
        void run() throws Exception;
    }

    /** What is waited for. */
    public interface Condition {
        boolean holds() throws Exception;
    }

    /** Adds the counterexample of `finding`. */
    public Confirmation with(String finding, Scenario scenario) {
        scenarios.put(finding, scenario);
        return this;
    }

    /** Repeats all of them and ends the program, with every thread that a deadlock has left. */
    public void run(String version) {
        int status = 1;
        try {
            for (Map.Entry<String, Scenario> scenario : scenarios.entrySet()) {
                print(scenario.getKey(), observe(scenario.getValue()), version);
            }
            status = 0;
        } catch (Exception error) {
            error.printStackTrace();
        } finally {
            System.out.flush();
            Runtime.getRuntime().halt(status);
        }
    }

    private static void print(String finding, Observation seen, String version)
            throws JsonProcessingException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("finding", finding);
        line.put("confirmed", seen.confirmed);
        line.put("observed", seen.observed);
        line.put("version", version);
        System.out.println(JSON.writeValueAsString(line));
    }

    /** A machine that stands still may spoil an attempt: the promise then seems kept. */
    private static Observation observe(Scenario scenario) throws Exception {
        Observation seen = scenario.observe();
        for (int attempt = 1; attempt < ATTEMPTS && !seen.confirmed; attempt++) {
            seen = scenario.observe();
        }
        return seen;
    }

    /** Starts a thread that keeps nobody from ending. */
    public static Thread start(Step step) {
        Thread thread = new Thread(() -> unchecked(step));
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Runs `step` where no checked exception may be thrown. */
    public static void unchecked(Step step) {
        try {
            step.run();
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** Waits until `condition` holds; fails after 10 s. */
    public static void await(String condition, Condition test) throws Exception {
        if (!holdsWithin(LIMIT_MS, test)) {
            throw new IllegalStateException("waited " + LIMIT_MS + " ms until " + condition);
        }
    }

    /** Waits at most `limitMs` for `condition` and returns whether it holds. */
    public static boolean holdsWithin(long limitMs, Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
        while (!condition.holds()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            Thread.sleep(1);
        }
        return true;
    }

    /** Waits for the end of `thread`; fails after 10 s. */
    public static void join(Thread thread) throws Exception {
        await(thread + " has ended", () -> !thread.isAlive());
    }
}
