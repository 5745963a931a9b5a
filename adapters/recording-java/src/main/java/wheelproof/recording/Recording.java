package wheelproof.recording;

import java.io.BufferedWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** The command `record`: histories of real concurrent runs, into a file. */
public final class Recording {
    private static final int USAGE = 2;
    private static final int FAILED = 1;
    private static final int NOT_GIVEN = -1;
    private static final long POLL_MS = 5;
    private static final long MOST_NS = 60_000_000_000L;

    private final String implementation;
    private final String version;
    private final String profile;
    private final Map<String, IntFunction<Load>> loads;

    /** Knows the loads by the name of the component; each is made for the number of its history. */
    public Recording(
            String implementation, String version, String profile,
            Map<String, IntFunction<Load>> loads) {
        this.implementation = implementation;
        this.version = version;
        this.profile = profile;
        this.loads = new TreeMap<>(loads);
    }

    /** Waits until something holds that has to hold soon; throws if it never does. */
    public static void awaitQuiet(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + MOST_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("what was loaded has not come to rest");
            }
            Thread.sleep(POLL_MS);
        }
    }

    /** Runs the command and returns the exit code. */
    public int run(String[] arguments) {
        try {
            record(new Options(arguments));
            return 0;
        } catch (IllegalArgumentException error) {
            System.err.println("record: " + error.getMessage());
            return USAGE;
        } catch (Exception error) {
            System.err.println("record: the run failed");
            error.printStackTrace();
            return FAILED;
        }
    }

    private void record(Options options) throws Exception {
        String component = options.text("component", "");
        if (!loads.containsKey(component)) {
            throw new IllegalArgumentException(
                    "--component is one of " + String.join(", ", loads.keySet()));
        }
        int threads = options.number("threads", 8);
        int operations = options.number("operations", 5_000);
        int histories = options.number("histories", 1);
        int seed = options.number("seed", 1);
        int latenessMs = options.has("lateness-ms") ? options.number("lateness-ms", 1) : NOT_GIVEN;
        boolean asReference = options.text("promises", profile).equals("wheelproof");
        Path output = Path.of(options.text("output", ""));
        options.requireAllUsed();
        long events = 0;
        try (BufferedWriter out = Files.newBufferedWriter(output)) {
            for (int i = 0; i < histories; i++) {
                String history = component + "-" + seed + "-" + i;
                Callers callers = new Callers(threads, operations, seed, i);
                events += recordOne(out, component, history, callers, asReference, latenessMs);
            }
        }
        System.out.printf(
                "%s of %s %s: %d histories, %d threads, %d operations each, %d events, seed %d%n",
                component, implementation, version, histories, threads, operations, events, seed);
    }

    private long recordOne(
            BufferedWriter out, String component, String history, Callers callers,
            boolean asReference, int latenessMs) throws Exception {
        Load load = loads.get(component).apply(callers.number());
        Recorder recorder = new Recorder(load::refusal);
        load.run(recorder, callers);
        Map<String, Object> config = new TreeMap<>(load.config());
        if (asReference) {
            config.putAll(load.referencePromises());
        }
        if (latenessMs != NOT_GIVEN) {
            // Of those that promise one.
            config.replace("lateness_ms", (long) latenessMs);
        }
        return recorder.writeTo(out, history, Recorder.header(
                history, component, implementation, version, config, profile));
    }

    /** Options with a value each. */
    private static final class Options {
        private final Map<String, String> given = new TreeMap<>();

        Options(String[] arguments) {
            for (int i = 0; i < arguments.length; i += 2) {
                if (!arguments[i].startsWith("--") || i + 1 == arguments.length) {
                    throw new IllegalArgumentException("expected --option value at " + arguments[i]);
                }
                given.put(arguments[i].substring(2), arguments[i + 1]);
            }
        }

        boolean has(String name) {
            return given.containsKey(name);
        }

        String text(String name, String usual) {
            String value = given.remove(name);
            if (value == null && usual.isEmpty()) {
                throw new IllegalArgumentException("--" + name + " is missing");
            }
            return value == null ? usual : value;
        }

        int number(String name, int usual) {
            String value = text(name, String.valueOf(usual));
            try {
                int number = Integer.parseInt(value);
                if (number >= (name.equals("seed") ? 0 : 1)) {
                    return number;
                }
            } catch (NumberFormatException error) {
                // Refused below.
            }
            throw new IllegalArgumentException("--" + name + " cannot be " + value);
        }

        void requireAllUsed() {
            if (!given.isEmpty()) {
                throw new IllegalArgumentException("there is no option --" + given.keySet());
            }
        }
    }
}
