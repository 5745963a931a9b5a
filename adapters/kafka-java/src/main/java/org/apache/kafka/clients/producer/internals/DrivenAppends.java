package org.apache.kafka.clients.producer.internals;

import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.internals.RecordAccumulator.RecordAppendResult;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.record.internal.Record;
import wheelproof.kafka.VirtualTime;
import wheelproof.kafka.Workers;

/** Threads that append, each a record, and the callbacks of the records. */
final class DrivenAppends {
    record Append(String record, int partition, int size, long max_time_to_block_ms) {}

    private final RecordAccumulator accumulator;
    private final FaultyPool pool;
    private final VirtualTime time;
    private final Workers workers;
    private final IntFunction<String> topicOf;
    private final Map<String, Thread> threads = new HashMap<>();
    /**
     * Who has got memory appends and says so before another one appends: what is told of several
     * that one call has woken is in the order of their records.
     */
    private final ReentrantLock turn = new ReentrantLock();
    private List<Object> calledBack = new ArrayList<>();
    private List<Object> appended = new ArrayList<>();
    private Map<String, String> refused = new LinkedHashMap<>();
    private RuntimeException refusal;

    DrivenAppends(
            RecordAccumulator accumulator, FaultyPool pool, VirtualTime time, Workers workers,
            IntFunction<String> topicOf) {
        this.accumulator = accumulator;
        this.pool = pool;
        this.time = time;
        this.workers = workers;
        this.topicOf = topicOf;
        pool.whenAllocated(turn::lock);
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

    List<Object> takeCalledBack() {
        List<Object> taken = calledBack;
        calledBack = new ArrayList<>();
        return taken;
    }

    List<Object> takeAppended() {
        List<Object> taken = appended;
        appended = new ArrayList<>();
        return taken;
    }

    Map<String, String> takeRefused() {
        Map<String, String> taken = refused;
        refused = new LinkedHashMap<>();
        return taken;
    }

    /** Appends, on the thread of the call or of the callback that sends again. */
    private void append(Append append, String callback) {
        try {
            RecordAppendResult result = accumulator.append(
                    topicOf.apply(append.partition), append.partition, 0, null, value(append),
                    Record.EMPTY_HEADERS,
                    new DrivenCallback(this, append, callback),
                    append.max_time_to_block_ms, time.milliseconds(), Cluster.empty());
            accept(Map.of(
                    "record", append.record,
                    "batch_is_full", result.batchIsFull,
                    "new_batch_created", result.newBatchCreated));
        } catch (BufferExhaustedException error) {
            refuse(append.record, "exhausted");
        } catch (KafkaException error) {
            refuse(append.record, "closed");
        } catch (InterruptedException error) {
            refuse(append.record, "interrupted");
        } catch (OutOfMemoryError | ReadOnlyBufferException error) {
            refuse(append.record, "failed");
        } finally {
            if (turn.isHeldByCurrentThread()) {
                turn.unlock();
            }
        }
    }

    void callBack(Map<String, Object> callback) {
        calledBack.add(callback);
    }

    /** If it is refused, the callback is told so, and not who completes its batch. */
    void sendAgain(Append append) {
        String name = append.record + "'";
        try {
            append(new Append(name, append.partition, append.size, 0), "");
        } catch (RuntimeException error) {
            refuse(name, "failed");
        }
    }

    private synchronized void accept(Map<String, Object> fields) {
        appended.add(fields);
    }

    private synchronized void refuse(String record, String reason) {
        refused.put(record, reason);
    }

    private static byte[] value(Append append) {
        byte[] value = new byte[append.size];
        Arrays.fill(value, (byte) append.record.charAt(append.record.length() - 1));
        return value;
    }
}
