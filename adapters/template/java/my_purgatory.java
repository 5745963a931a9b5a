import java.util.*;

/** Your purgatory, seen from outside; each test case makes a new one. */
final class Mine {
    static final String NAME = "my-purgatory";
    static final String COMPONENT = "purgatory";
    static final String PROFILE = "wheelproof";
    static final List<String> ABLE = List.of("cancel_for_key");

    /** An operation that waits: done once one of its conditions is set, or at dueMs. */
    private record Operation(List<String> keys, List<String> conditions, long dueMs) {}

    private final long tickMs;
    private long nowMs;
    private final Set<String> conditions = new HashSet<>();
    private final Map<String, Operation> waiting = new LinkedHashMap<>();
    // Each callback appends the name of its operation when it runs, in that order.
    private List<String> completed = new ArrayList<>();
    private List<String> expired = new ArrayList<>();

    /** Makes a purgatory whose clock shows start_ms; this one keeps nothing that is done. */
    Mine(Fields config) {
        tickMs = config.number("tick_ms");
        nowMs = config.number("start_ms");
    }

    synchronized Fields perform(String operation, Fields args) {
        String name = args.text("operation");
        String key = args.text("key");
        Fields told = new Fields();
        switch (operation) {
            // Hand in an operation; tell whether this call completed it.
            case "try_complete_else_watch" -> {
                long dueMs = Math.floorDiv(nowMs + args.number("delay_ms"), tickMs) * tickMs;
                waiting.put(name, new Operation(args.list("keys"), args.list("conditions"), dueMs));
                told.with("completed", attempt(name));
            }
            // Make a condition true; the operations notice it when they are tried.
            case "set_condition" -> conditions.add(args.text("condition"));
            // Try the operations of a key; tell how many this call completed.
            case "check_and_complete" ->
                told.with("count", watching(key).stream().filter(this::attempt).count());
            // Complete an operation; tell whether this call did it.
            case "force_complete" -> told.with("completed", complete(name));
            // Give up the operations of a key, which are never completed then; tell which.
            case "cancel_for_key" -> {
                told.with("cancelled", watching(key));
                waiting.keySet().removeAll(watching(key));
            }
            // Set the clock to to_ms; return when all that is due has expired.
            case "advance" -> {
                nowMs = args.number("to_ms");
                List<String> due = waiting.keySet().stream()
                        .filter(one -> waiting.get(one).dueMs <= nowMs)
                        .sorted(Comparator.comparing(one -> waiting.get(one).dueMs))
                        .toList();
                due.forEach(this::complete);
                expired.addAll(due);
            }
            // Tell how many watches, time-outs and keys there are.
            case "ask_gauges" -> {
                List<String> keys = new ArrayList<>();
                waiting.values().forEach(one -> keys.addAll(one.keys));
                told.with("watched", keys.size()).with("num_delayed", waiting.size())
                        .with("num_keys", new HashSet<>(keys).size());
            }
            default -> throw new IllegalArgumentException(operation);
        }
        return told;
    }

    /** Tells which callbacks have run since the last answer. */
    synchronized void happened(Fields told) {
        told.with("on_complete", completed).with("on_expiration", expired);
        completed = new ArrayList<>();
        expired = new ArrayList<>();
    }

    /** Returns the operations that wait under a key, in the order in which they came. */
    private List<String> watching(String key) {
        List<String> names = new ArrayList<>(waiting.keySet());
        names.removeIf(name -> !waiting.get(name).keys.contains(key));
        return names;
    }

    /** Completes an operation if it can be completed; tells whether this call did it. */
    private boolean attempt(String name) {
        return !Collections.disjoint(waiting.get(name).conditions, conditions) && complete(name);
    }

    /** Completes an operation, unless it is done; tells whether this call did it. */
    private boolean complete(String name) {
        boolean waited = waiting.remove(name) != null;
        if (waited) {
            completed.add(name);
        }
        return waited;
    }
}
