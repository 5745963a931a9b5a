package wheelproof.broker;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;

/**
 * Records of the wire as batches of Kafka's, and back.
 *
 * <p>A byte of the wire is SCALE bytes here, so that the headers of a batch find room in it: a batch
 * takes exactly SCALE times the bytes of its records. Each value begins with the size of its record.
 */
final class Batches {
    static final int SCALE = 128;
    private static final int SIZE_BYTES = 4;
    private static final int MOST_KEY_BYTES = 3;
    private static final int ATTEMPTS = 4;

    /** A record of the wire. */
    record Content(int size, String value) {}

    private Batches() {}

    /** Makes the batch of the records that are appended together. */
    static MemoryRecords batch(List<Content> contents, long timeMs) {
        if (contents.isEmpty()) {
            return MemoryRecords.EMPTY;
        }
        int wanted = SCALE * contents.stream().mapToInt(Content::size).sum();
        // The lengths of records have one byte or more: a key makes up for what the value jumps over.
        for (int key = 0; key <= MOST_KEY_BYTES; key++) {
            int padding = 0;
            for (int i = 0; i < ATTEMPTS; i++) {
                MemoryRecords made = made(contents, timeMs, key, padding);
                if (made.sizeInBytes() == wanted) {
                    return made;
                }
                padding = Math.max(0, padding + wanted - made.sizeInBytes());
            }
        }
        throw new IllegalArgumentException("no batch has " + wanted + " bytes and these records");
    }

    private static MemoryRecords made(List<Content> contents, long timeMs, int key, int padding) {
        SimpleRecord[] records = new SimpleRecord[contents.size()];
        for (int i = 0; i < records.length; i++) {
            boolean last = i == records.length - 1;
            byte[] value = contents.get(i).value.getBytes(StandardCharsets.UTF_8);
            ByteBuffer bytes =
                    ByteBuffer.allocate(SIZE_BYTES + value.length + (last ? padding : 0));
            bytes.putInt(contents.get(i).size).put(value).rewind();
            ByteBuffer keyBytes = last && key > 0 ? ByteBuffer.allocate(key) : null;
            records[i] = new SimpleRecord(timeMs, keyBytes, bytes);
        }
        return MemoryRecords.withRecords(Compression.NONE, records);
    }

    /** Returns the records from an offset on, as a client takes them out of whole batches. */
    static List<Map<String, ?>> contents(Records records, long from, boolean valued) {
        List<Map<String, ?>> found = new ArrayList<>();
        for (RecordBatch batch : records.batches()) {
            for (Record record : batch) {
                if (record.offset() >= from) {
                    found.add(content(record, batch.partitionLeaderEpoch(), valued));
                }
            }
        }
        return found;
    }

    private static Map<String, ?> content(Record record, int epoch, boolean valued) {
        Map<String, Object> fields = new LinkedHashMap<>();
        ByteBuffer value = record.value();
        fields.put("offset", record.offset());
        fields.put("leader_epoch", epoch);
        fields.put("size", value.getInt());
        if (valued) {
            fields.put("value", StandardCharsets.UTF_8.decode(value).toString().replace("\0", ""));
        }
        return fields;
    }
}
