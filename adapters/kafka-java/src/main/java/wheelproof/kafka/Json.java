package wheelproof.kafka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;

/** Reading and writing messages, strictly. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build();

    private Json() {}

    static JsonNode parse(String line) throws JsonProcessingException {
        return MAPPER.readTree(line);
    }

    static byte[] format(Object message) throws JsonProcessingException {
        return MAPPER.writeValueAsBytes(message);
    }

    /** Returns the fields of `node` as a record; what it does not know, or lacks, is an error. */
    public static <T> T as(Class<T> type, JsonNode node) throws JsonProcessingException {
        return MAPPER.treeToValue(node, type);
    }

    /** Removes a field that need not be there from `node`; returns its text, empty without it. */
    public static String takeOptional(String field, JsonNode node) {
        JsonNode taken = ((ObjectNode) node).remove(field);
        return taken == null ? "" : taken.asText();
    }

    /** Removes an object that need not be there; returns its texts by number, none without it. */
    public static Map<Integer, String> takeMap(String field, JsonNode node)
            throws JsonProcessingException {
        JsonNode taken = ((ObjectNode) node).remove(field);
        Map<Integer, String> found = new HashMap<>();
        if (taken != null) {
            for (var entry : taken.properties()) {
                found.put(Integer.valueOf(entry.getKey()), as(String.class, entry.getValue()));
            }
        }
        return found;
    }
}
