package wheelproof.producer;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** One call of `send`, and the callback of its record, which runs the user's own. */
public final class Sending implements Callback {
    private final ProducerRecording recording;
    private final String name;
    private final Map<String, Object> asked;
    private final boolean choosesPartition;
    private final Callback callback;
    private final Thread caller = Thread.currentThread();
    /** Whether the caller is inside `send`, and its end is not written. Of its thread alone. */
    private boolean isOpen = true;

    Sending(
            ProducerRecording recording, String name, ProducerRecord<?, ?> record, long blockMs,
            Callback callback) {
        this.recording = recording;
        this.name = name;
        this.callback = callback;
        choosesPartition = record.partition() == null;
        asked = new ConcurrentHashMap<>(Map.of(
                "record", name,
                "partition", record.topic() + "-" + (choosesPartition ? "unknown" : record.partition()),
                "size", Names.size(record.key()) + Names.size(record.value()),
                "max_time_to_block_ms", blockMs));
        recording.recorder().begins("append", asked);
    }

    /** Writes down how `send` has ended, unless a callback inside it has shown that. */
    public void returned(Throwable thrown) {
        if (isOpen) {
            isOpen = false;
            recording.ended("append", thrown);
        }
        recording.callEnds();
    }

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
        // A record that is refused is called back as well: by the caller, before `send` returns.
        if (Thread.currentThread() == caller && isOpen && error != null) {
            isOpen = false;
            recording.ended("append", error);
        } else {
            told(metadata, error);
        }
        if (callback != null) {
            callback.onCompletion(metadata, error);
        }
    }

    private void told(RecordMetadata metadata, Exception error) {
        recording.callsBack();
        Map<String, Object> told = new HashMap<>();
        told.put("record", name);
        told.put("offset", metadata != null && metadata.hasOffset() ? metadata.offset() : null);
        told.put("error", error == null ? null : Names.ofFailure(error));
        // Lines are written out when all is over: what was not known at the append is filled in.
        if (metadata != null && choosesPartition && metadata.partition() >= 0) {
            asked.put("partition", metadata.topic() + "-" + metadata.partition());
        }
        if (metadata != null && error == null) {
            long size = Math.max(metadata.serializedKeySize(), 0);
            asked.put("size", size + Math.max(metadata.serializedValueSize(), 0));
        }
        recording.recorder().happens("callback", told);
    }
}
