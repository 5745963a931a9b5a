import java.util.*;

/**
 * Your accumulator, seen from outside; each test case makes a new one.
 *
 * <p>This one has no threads and no pool. If an append or a flush of yours blocks, run it on a thread
 * of its own and leave it there; happened waits until each thread waits or has ended.
 */
final class Mine {
    static final String NAME = "my-accumulator";
    static final String COMPONENT = "accumulator";
    static final String PROFILE = "wheelproof";
    static final List<String> ABLE =
            List.of("exact_time", "close", "flush", "reenqueue", "many_batches");

    /** Records that are sent together; it was made, or put back, at sinceMs. */
    private static final class Batch {
        final long partition;
        long sinceMs;
        long size;
        List<String> records = new ArrayList<>();
        int attempts;
        boolean closed;

        Batch(long partition, long sinceMs) {
            this.partition = partition;
            this.sinceMs = sinceMs;
        }
    }

    private record Again(long partition, long size) {}

    private final Fields config;
    private long nowMs;
    private boolean closed;
    private final Map<Long, Deque<Batch>> queues = new LinkedHashMap<>();
    private final Map<String, Batch> inFlight = new LinkedHashMap<>();
    private int drained;
    /** What the callbacks of records send once more. */
    private final Map<String, Again> again = new HashMap<>();
    /** The records that each flush waits for. */
    private final Map<String, Set<String>> flushes = new LinkedHashMap<>();
    private List<Fields> calledBack = new ArrayList<>();
    private List<Fields> appended = new ArrayList<>();
    private Fields refused = new Fields();

    /** Makes an accumulator whose clock shows start_ms. */
    Mine(Fields config) {
        this.config = config;
        nowMs = config.number("start_ms");
    }

    Fields perform(String operation, Fields args) {
        switch (operation) {
            case "append" -> append(args.text("record"), args.number("partition"),
                    args.number("size"), "sends_again".equals(args.text("callback")));
            case "drain" -> {
                return new Fields().with("batches", drain(args.list("partitions")));
            }
            // End a batch: it is stored from offset on, or it failed; unmute its partition.
            case "respond" -> end(land(args.text("batch")), args.number("offset"), "Failed");
            // Put a batch back for another attempt; unmute its partition.
            case "reenqueue" -> {
                Batch batch = land(args.text("batch"));
                batch.attempts++;
                batch.sinceMs = nowMs;
                queues.get(batch.partition).addFirst(batch);
            }
            // Begin to wait for all records that have not been called back.
            case "flush" -> {
                Set<String> awaited = new HashSet<>();
                allBatches().forEach(batch -> awaited.addAll(batch.records));
                flushes.put(args.text("flush"), awaited);
            }
            // Set the clock to to_ms.
            case "advance" -> nowMs = args.number("to_ms");
            // Close; nothing is accepted any more.
            case "close" -> closed = true;
            // End all batches; those in flight are still responded to.
            case "abort" -> {
                List<Batch> batches = allBatches();
                queues.clear();
                batches.forEach(batch -> end(batch, null, "Aborted"));
            }
            default -> throw new IllegalArgumentException(operation);
        }
        return new Fields();
    }

    /** Tells what has happened since the last answer. */
    void happened(Fields told) {
        Fields flushed = new Fields();
        for (String flush : List.copyOf(flushes.keySet())) {
            if (flushes.get(flush).isEmpty()) {
                flushes.remove(flush);
                flushed.with(flush, false); // It was not interrupted.
            }
        }
        told.with("called_back", calledBack).with("appended", appended).with("refused", refused)
                .with("flushed", flushed).with("flush_in_progress", !flushes.isEmpty())
                .with("has_undrained", queues.values().stream().anyMatch(one -> !one.isEmpty()))
                .with("has_incomplete", allBatches().stream().anyMatch(b -> !b.records.isEmpty()));
        calledBack = new ArrayList<>();
        appended = new ArrayList<>();
        refused = new Fields();
    }

    /** Appends a record; a callback that raises keeps nobody else from being told. */
    private void append(String record, long partition, long size, boolean sendsAgain) {
        if (closed) {
            refused.with(record, "closed");
            return;
        }
        Deque<Batch> queue = queues.computeIfAbsent(partition, one -> new ArrayDeque<>());
        long batchSize = config.number("batch_size");
        Batch last = queue.peekLast();
        if (last != null && last.size + size > batchSize) {
            last.closed = true;
        }
        boolean isNew = last == null || last.closed;
        if (isNew) {
            last = new Batch(partition, nowMs);
            queue.addLast(last);
        }
        last.records.add(record);
        last.size += size;
        last.closed = last.size >= batchSize;
        if (sendsAgain) {
            again.put(record, new Again(partition, size));
        }
        boolean isFull = queue.size() > 1 || last.closed;
        appended.add(new Fields().with("record", record).with("batch_is_full", isFull)
                .with("new_batch_created", isNew));
    }

    /** Takes the first batch of each partition that can be sent; mutes these partitions. */
    private List<Fields> drain(List<Long> partitions) {
        Set<Long> muted = new HashSet<>();
        inFlight.values().forEach(batch -> muted.add(batch.partition));
        List<Fields> batches = new ArrayList<>();
        for (long partition : partitions) {
            Deque<Batch> queue = queues.getOrDefault(partition, new ArrayDeque<>());
            if (muted.contains(partition) || !isReady(queue)) {
                continue;
            }
            Batch batch = queue.removeFirst();
            String name = "b" + ++drained;
            batch.closed = true;
            inFlight.put(name, batch);
            batches.add(new Fields().with("batch", name).with("partition", partition)
                    .with("records", batch.records));
        }
        return batches;
    }

    /** Tells whether the first batch can be sent: neither backing off nor lingering. */
    private boolean isReady(Deque<Batch> queue) {
        Batch first = queue.peekFirst();
        if (first == null) {
            return false;
        }
        long waitedMs = nowMs - first.sinceMs;
        long doubledMs = config.number("retry_backoff_ms") << Math.max(first.attempts - 1, 0);
        long backoffMs = Math.min(doubledMs, config.number("retry_backoff_max_ms"));
        if (first.attempts > 0 && waitedMs < backoffMs) {
            return false;
        }
        boolean hurried = closed || !flushes.isEmpty();
        boolean hasLingered = waitedMs >= config.number("linger_ms");
        return hurried || queue.size() > 1 || first.closed || hasLingered;
    }

    /** Returns the batches in flight and in the queues, the oldest of a partition first. */
    private List<Batch> allBatches() {
        List<Batch> all = new ArrayList<>(inFlight.values());
        queues.values().forEach(all::addAll);
        return all;
    }

    /** Takes a batch out of those in flight. */
    private Batch land(String name) {
        return Objects.requireNonNull(inFlight.remove(name), name + " is not in flight");
    }

    /** Calls back the records of a batch, which are told once. */
    private void end(Batch batch, Long offset, String error) {
        List<String> records = batch.records;
        batch.records = new ArrayList<>();
        for (int place = 0; place < records.size(); place++) {
            String record = records.get(place);
            calledBack.add(new Fields().with("record", record)
                    .with("offset", offset == null ? null : offset + place)
                    .with("error", offset == null ? error : null));
            flushes.values().forEach(awaited -> awaited.remove(record));
            Again once = again.remove(record);
            if (once != null) {
                append(record + "'", once.partition, once.size, false);
            }
        }
    }
}
