package wheelproof.recording;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Writes down what callers ask for and get (wheelproof.history/1).
 *
 * <p>Threads share one counter and nothing else: each has lines of its own, which are put in order
 * when all is over. So the recorder keeps no two calls apart that would have met without it.
 */
public final class Recorder {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Systems claim a nanosecond; two cores may disagree by more. */
    private static final long FINEST_NS = 1_000;
    private static final int MEASURED_STEPS = 20;

    /** How coarse the clock of the lines is, {@code System.nanoTime}, as measured once. */
    static final long CLOCK_RESOLUTION_NS = Math.max(FINEST_NS, leastStepNs());

    /** A call that is recorded; it returns the fields of its answer. */
    public interface Call {
        Map<String, ?> perform() throws Exception;
    }

    /** How many lines there are, or will be in a moment. */
    public long size() {
        return nextIndex.get();
    }

    private record Line(
            long index, String type, String f, Map<String, ?> value, long timeNs, String error) {}

    private record Process(String name, Queue<Line> lines) {}

    private final AtomicLong nextIndex = new AtomicLong();
    private final Queue<Process> processes = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Queue<Line>> mine = ThreadLocal.withInitial(this::register);
    private final Function<Exception, String> refusals;

    /** Makes a recorder; `refusals` names an exception that refuses a call, null for all others. */
    public Recorder(Function<Exception, String> refusals) {
        this.refusals = refusals;
    }

    /** Performs a call between its two lines; tells whether it was served, and not refused. */
    public boolean call(String f, Map<String, ?> asked, Call call) throws Exception {
        begins(f, asked);
        Map<String, ?> answer;
        try {
            answer = call.perform();
        } catch (Exception error) {
            String refusal = refusals.apply(error);
            if (refusal == null) {
                isLost(f);
                throw error;
            }
            isRefused(f, refusal);
            return false;
        }
        ends(f, answer);
        return true;
    }

    /** Writes down that this thread begins a call; it then tells how that has ended. */
    public void begins(String f, Map<String, ?> asked) {
        write("invoke", f, asked, null);
    }

    /** Writes down that the call of this thread has returned. */
    public void ends(String f, Map<String, ?> answer) {
        write("ok", f, answer, null);
    }

    /** Writes down that the call of this thread was refused, without an effect. */
    public void isRefused(String f, String why) {
        write("fail", f, Map.of(), why);
    }

    /** Writes down that the call of this thread has an end that says nothing. */
    public void isLost(String f) {
        write("info", f, Map.of(), null);
    }

    /** Writes down that a callback begins, which nobody called. */
    public void happens(String f, Map<String, ?> what) {
        write("invoke", f, what, null);
    }

    /** Writes down that a callback begins, and that it has ended. */
    public void happens(String f, Map<String, ?> what, Runnable callback) {
        happens(f, what);
        callback.run();
        write("ok", f, Map.of(), null);
    }

    /** Writes the lines behind a header, and the end; every thread has ended, or rests. */
    public long writeTo(Writer out, String history, Map<String, ?> header) throws IOException {
        return writeTo(out, history, header, true);
    }

    /**
     * Writes the lines behind a header, and the end, if all is quiet; without it nothing passes.
     *
     * <p>If it is not, threads may go on. A line is then left out if one before it is still missing.
     */
    public long writeTo(Writer out, String history, Map<String, ?> header, boolean quiet)
            throws IOException {
        out.write(JSON.writeValueAsString(header) + "\n");
        record Placed(String process, Line line) {}
        List<Placed> placed = new ArrayList<>();
        for (Process process : processes) {
            process.lines.forEach(line -> placed.add(new Placed(process.name, line)));
        }
        placed.sort(Comparator.comparingLong(one -> one.line.index));
        long written = 0;
        for (Placed one : placed) {
            if (one.line.index != written) {
                break;
            }
            out.write(format(history, one.process, one.line) + "\n");
            written++;
        }
        if (quiet) {
            out.write(JSON.writeValueAsString(fields(
                    "kind", "end", "history", history, "ops", written, "quiet", true)) + "\n");
        }
        return written;
    }

    /** Prints the events for `wheelproof load`, which puts them in order; all is over. */
    void print(PrintStream out) throws IOException {
        for (Process process : processes) {
            for (Line line : process.lines) {
                out.println(JSON.writeValueAsString(event(process.name, line)));
            }
        }
    }

    /** Returns the header of a history whose lines a recorder writes. */
    public static Map<String, Object> header(
            String history, String component, String implementation, String version,
            Map<String, ?> config, String profile) {
        return fields(
                "schema", "wheelproof.history/1", "kind", "header", "history", history,
                "component", component,
                "impl", Map.of("name", implementation, "version", version),
                "config", config, "clock", "monotonic_ns",
                "clock_resolution_ns", CLOCK_RESOLUTION_NS, "profile", profile);
    }

    /** Returns these names and values, in this order. */
    public static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }

    /** A thread may be paused between two readings, hardly between each two. */
    private static long leastStepNs() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < MEASURED_STEPS; i++) {
            long before = System.nanoTime();
            long after = before;
            while (after == before) {
                after = System.nanoTime();
            }
            least = Math.min(least, after - before);
        }
        return least;
    }

    private void write(String type, String f, Map<String, ?> value, String error) {
        Queue<Line> lines = mine.get();
        // The time first: by the moment of the index the clock has surely reached it.
        long timeNs = System.nanoTime();
        lines.add(new Line(nextIndex.getAndIncrement(), type, f, value, timeNs, error));
    }

    private Queue<Line> register() {
        Thread thread = Thread.currentThread();
        // Names of threads need not differ.
        String name = thread.getName() + "-" + thread.getId();
        Process process = new Process(name, new ConcurrentLinkedQueue<>());
        processes.add(process);
        return process.lines;
    }

    private static String format(String history, String process, Line line)
            throws JsonProcessingException {
        Map<String, Object> fields = fields("kind", "op", "history", history);
        fields.putAll(event(process, line));
        return JSON.writeValueAsString(fields);
    }

    private static Map<String, Object> event(String process, Line line) {
        Map<String, Object> fields = fields(
                "index", line.index, "process", process,
                "type", line.type, "f", line.f, "value", line.value, "time_ns", line.timeNs);
        if (line.error != null) {
            fields.put("error", line.error);
        }
        return fields;
    }
}
