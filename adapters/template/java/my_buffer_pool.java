import java.util.*;

/**
 * Your pool, seen from outside; each test case makes a new one.
 *
 * <p>This one has no threads. If an allocation of yours blocks, run it on a thread of its own and
 * leave it there; happened waits until each thread waits or has ended.
 */
final class Mine {
    static final String NAME = "my-pool";
    static final String COMPONENT = "buffer_pool";
    static final String PROFILE = "longest-waiting-first";
    static final List<String> ABLE = List.of("exact_time", "any_size", "interruption", "close");

    private record Allocation(String name, long size, long deadlineMs) {}

    private final long total;
    private long free;
    private long nowMs;
    private boolean closed;
    private final Map<String, Long> lent = new HashMap<>();
    private final List<Allocation> waiting = new ArrayList<>();
    private Fields ended = new Fields();

    /** Makes a pool of total_memory bytes whose clock shows start_ms. */
    Mine(Fields config) {
        total = config.number("total_memory");
        free = total;
        nowMs = config.number("start_ms");
    }

    synchronized Fields perform(String operation, Fields args) {
        String buffer = args.text("buffer");
        switch (operation) {
            // Allocate size bytes under the name buffer.
            case "allocate" -> {
                long size = args.number("size");
                if (size < 0 || size > total) {
                    throw new IllegalArgumentException(size + " bytes of " + total);
                }
                long deadlineMs = nowMs + args.number("max_time_to_block_ms");
                waiting.add(new Allocation(buffer, size, deadlineMs));
            }
            // Give back what the allocation buffer got.
            case "deallocate" -> {
                if (!lent.containsKey(buffer)) {
                    throw new IllegalArgumentException(buffer + " is not on loan");
                }
                free += lent.remove(buffer);
            }
            // Interrupt the thread of an allocation; no effect if that has ended.
            case "interrupt" -> {
                String name = args.text("name");
                if (waiting.removeIf(one -> one.name.equals(name))) {
                    ended.with(name, "interrupted");
                }
            }
            // Set the clock to to_ms; waits whose time is over end.
            case "advance" -> nowMs = args.number("to_ms");
            // Close the pool; nobody gets memory any more.
            case "close" -> closed = true;
            default -> throw new IllegalArgumentException(operation);
        }
        lend();
        return new Fields();
    }

    /** Tells which allocations have ended since the last answer, and the gauges. */
    synchronized void happened(Fields told) {
        told.with("ended", ended).with("available_memory", free).with("queued", waiting.size());
        ended = new Fields();
    }

    /** Lends to who has waited longest, as far as there is memory; ends the other waits. */
    private void lend() {
        for (Allocation one : List.copyOf(waiting)) {
            boolean mayHave = one.size == 0 || waiting.get(0) == one;
            if (closed) {
                ended.with(one.name, "closed");
            } else if (mayHave && one.size <= free) {
                free -= one.size;
                lent.put(one.name, one.size);
                ended.with(one.name, "buffer");
            } else if (one.deadlineMs <= nowMs) {
                ended.with(one.name, "exhausted");
            } else {
                continue;
            }
            waiting.remove(one);
        }
    }
}
