package wheelproof.producer;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortedException;

/** What exceptions are called in a recording, and how large keys and values are. */
final class Names {
    private Names() {}

    /** Returns why a call was refused. */
    static String ofRefusal(Throwable error) {
        if (error instanceof BufferExhaustedException) {
            return "Exhausted";
        }
        boolean isPlain = error instanceof IllegalStateException
                || error.getClass() == KafkaException.class;
        boolean saysClosed = error.getMessage() != null && error.getMessage().contains("closed");
        return isPlain && saysClosed ? "Closed" : error.getClass().getSimpleName();
    }

    /** Returns why a record has failed after it was accepted. */
    static String ofFailure(Exception error) {
        if (error.getClass() == TimeoutException.class) {
            return "Expired";
        }
        // A forced close ends records by the general exception.
        boolean isAborted = error.getClass() == KafkaException.class
                || error instanceof TransactionAbortedException;
        return isAborted ? "Aborted" : error.getClass().getSimpleName();
    }

    /** Returns the size of a key or value in bytes, as far as it is known before serialization. */
    static long size(Object data) {
        if (data instanceof byte[] bytes) {
            return bytes.length;
        }
        if (data instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }
        return data instanceof ByteBuffer buffer ? buffer.remaining() : 0;
    }
}
