package wheelproof.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** One of Kafka's classes, as the driver protocol knows it; an exception is a refusal. */
public interface Component {
    /** Forgets everything and makes a new one. */
    void reset(JsonNode config) throws Exception;

    /** Performs an operation and returns the fields of its answer. */
    Map<String, Object> perform(String operation, JsonNode args) throws Exception;

    /** The refusal of an operation that the component does not have. */
    static UnsupportedOperationException unknown(String operation) {
        return new UnsupportedOperationException("no operation is called " + operation);
    }
}
