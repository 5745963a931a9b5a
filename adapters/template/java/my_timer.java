import java.util.*;

/** Your timer, seen from outside; each test case makes a new one. */
final class Mine {
    static final String NAME = "my-timer";
    static final String COMPONENT = "timer";
    static final String PROFILE = "kafka";
    static final List<String> ABLE = List.of();

    private final long tickMs;
    private long nowMs;
    private final Map<String, Long> dueMs = new LinkedHashMap<>();
    /** Each task appends its name when it runs, in that order. */
    private List<String> ran = new ArrayList<>();

    /** Makes a timer whose clock shows start_ms. */
    Mine(Fields config) {
        tickMs = config.number("tick_ms");
        nowMs = config.number("start_ms");
    }

    synchronized Fields perform(String operation, Fields args) {
        String task = args.text("task");
        switch (operation) {
            // Schedule the task in delay_ms, and drop an earlier add of the same name.
            case "add" ->
                dueMs.put(task, Math.floorDiv(nowMs + args.number("delay_ms"), tickMs) * tickMs);
            // Cancel the task; tell whether it was waiting.
            case "cancel" -> {
                return new Fields().with("cancelled", dueMs.remove(task) != null);
            }
            // Set the clock to to_ms; return when all due tasks have run.
            case "advance" -> {
                nowMs = args.number("to_ms");
                dueMs.entrySet().stream()
                        .filter(one -> one.getValue() <= nowMs)
                        .sorted(Map.Entry.comparingByValue())
                        .forEachOrdered(one -> ran.add(one.getKey()));
                dueMs.keySet().removeAll(ran);
            }
            // Tell how many tasks wait; count them here if your timer does not.
            case "size" -> {
                return new Fields().with("size", dueMs.size());
            }
            default -> throw new IllegalArgumentException(operation);
        }
        return new Fields();
    }

    /** Tells which tasks have run since the last answer. */
    synchronized void happened(Fields told) {
        told.with("fired", ran);
        ran = new ArrayList<>();
    }
}
