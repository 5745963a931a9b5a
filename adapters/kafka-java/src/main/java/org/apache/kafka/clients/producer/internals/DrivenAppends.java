package org.apache.kafka.clients.producer.internals;

import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.RecordAppendResult;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.record.internal.Record;
import wheelproof.kafka.VirtualTime;
import wheelproof.kafka.Workers;

/** Threads that append, each a record, and the callbacks of the records. */
final class DrivenAppends {
    record Append(String record, int partition, int size, long timeout_ms) {}

    private final RecordAccumulator accumulator;
    private final FaultyPool pool;
    private final VirtualTime time;
    private final Workers workers;
    private final Map<String, Thread> threads = new HashMap<>();
    private List<Object> told = new ArrayList<>();
    private List<Object> appended = new ArrayList<>();
    private RuntimeException refusal;

    DrivenAppends(
            RecordAccumulator accumulator, FaultyPool pool, VirtualTime time, Workers workers) {
        this.accumulator = accumulator;
        this.pool = pool;
        this.time = time;
        this.workers = workers;
    }

    void start(Append append, String fault, String callback) {
        threads.put(append.record, workers.start(() -> {
            pool.failOnThisThread(fault);
            try {
                append(append, callback);
            } catch (RuntimeException error) {
                refusal = error;
            }
        }));
    }

    Thread threadOf(String record) {
        return threads.get(record);
    }

    void throwRefusal() {
        if (refusal != null) {
            RuntimeException thrown = refusal;
            refusal = null;
            throw thrown;
        }
    }

    List<Object> takeTold() {
        List<Object> taken = told;
        told = new ArrayList<>();
        return taken;
    }

    List<Object> takeAppended() {
        List<Object> taken = appended;
        appended = new ArrayList<>();
        return taken;
    }

    /** Appends, on the thread of the call or of the callback that sends again. */
    private void append(Append append, String callback) {
        String outcome;
        try {
            RecordAppendResult result = accumulator.append(
                    Clusters.TOPIC, append.partition, 0, null, value(append), Record.EMPTY_HEADERS,
                    new DrivenCallback(this, append, callback), append.timeout_ms,
                    time.milliseconds(), Cluster.empty());
            end(Map.of(
                    "record", append.record,
                    "outcome", "accepted",
                    "full", result.batchIsFull,
                    "new_batch", result.newBatchCreated));
            return;
        } catch (BufferExhaustedException error) {
            outcome = "exhausted";
        } catch (KafkaException error) {
            outcome = "closed";
        } catch (InterruptedException error) {
            outcome = "interrupted";
        } catch (OutOfMemoryError | ReadOnlyBufferException error) {
            outcome = "failed";
        }
        end(Map.of("record", append.record, "outcome", outcome));
    }

    void tell(Map<String, Object> fields) {
        told.add(fields);
    }

    /** If it is refused, the callback is told so, and not who completes its batch. */
    void sendAgain(Append append) {
        String name = append.record + "'";
        try {
            append(new Append(name, append.partition, append.size, 0), "");
        } catch (RuntimeException error) {
            end(Map.of("record", name, "outcome", "failed"));
        }
    }

    private synchronized void end(Map<String, Object> fields) {
        appended.add(fields);
    }

    private static byte[] value(Append append) {
        byte[] value = new byte[append.size];
        Arrays.fill(value, (byte) append.record.charAt(append.record.length() - 1));
        return value;
    }
}
