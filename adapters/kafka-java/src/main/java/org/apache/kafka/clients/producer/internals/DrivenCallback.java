package org.apache.kafka.clients.producer.internals;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/** The callback of a record, which may raise, or append the record once more. */
final class DrivenCallback implements RecordAccumulator.AppendCallbacks {
    private final DrivenAppends appends;
    private final DrivenAppends.Append append;
    private final String fault;

    DrivenCallback(DrivenAppends appends, DrivenAppends.Append append, String fault) {
        this.appends = appends;
        this.append = append;
        this.fault = fault;
    }

    String record() {
        return append.record();
    }

    @Override
    public void setPartition(int partition) {}

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
        Map<String, Object> callback = new HashMap<>();
        callback.put("record", record());
        callback.put("offset", error == null ? metadata.offset() : null);
        callback.put("error", error == null ? null : reason(error));
        appends.callBack(callback);
        if (fault.equals("raises")) {
            throw new IllegalStateException("as the test wants it");
        }
        if (fault.equals("sends_again")) {
            appends.sendAgain(append);
        }
    }

    private static String reason(Exception error) {
        if (error instanceof TimeoutException) {
            return "Expired";
        }
        return error.getClass() == KafkaException.class ? "Aborted" : "Failed";
    }
}
