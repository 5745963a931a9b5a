package wheelproof.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.internals.AccumulatorComponent;
import org.apache.kafka.clients.producer.internals.BufferPoolComponent;
import org.apache.kafka.server.purgatory.PurgatoryComponent;
import org.apache.kafka.server.util.timer.TimerComponent;

/** Answers the driver protocol (wheelproof.driver/1) with Apache Kafka's own classes. */
final class KafkaDriver {
    private static final String SCHEMA = "wheelproof.driver/1";
    private static final List<String> CAPABILITIES =
            List.of(
                    "virtual_time",
                    "exact_time",
                    "interruption",
                    "close",
                    "flush",
                    "faults",
                    "any_size",
                    "kafka_sizes",
                    "cancel_for_key");

    private final Map<String, Component> components = new LinkedHashMap<>();
    private Component current;

    public static void main(String[] arguments) throws IOException {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        KafkaDriver driver = new KafkaDriver();
        String operation = "";
        while (!operation.equals("bye")) {
            String line = input.readLine();
            if (line == null) {
                break;
            }
            JsonNode request = Json.parse(line);
            operation = request.path("op").asText();
            output.print(Json.format(driver.answer(operation, request)) + "\n");
            output.flush();
        }
        System.exit(0);
    }

    private KafkaDriver() {
        components.put("timer", new TimerComponent());
        components.put("purgatory", new PurgatoryComponent());
        components.put("buffer_pool", new BufferPoolComponent());
        components.put("accumulator", new AccumulatorComponent());
    }

    private Map<String, Object> answer(String operation, JsonNode request) {
        long id = request.path("id").asLong();
        try {
            return Map.of("id", id, "ok", perform(operation, request));
        } catch (Exception | StackOverflowError error) {
            String kind = error.getClass().getSimpleName().replaceFirst("Exception$", "");
            String message = String.valueOf(error.getMessage());
            return Map.of("id", id, "error", Map.of("kind", kind, "message", message));
        }
    }

    private Map<String, Object> perform(String operation, JsonNode request) throws Exception {
        switch (operation) {
            case "hello" -> {
                return hello(request.path("schema").asText());
            }
            case "bye" -> {
                return Map.of();
            }
            case "reset" -> {
                String name = request.path("component").asText();
                if (!components.containsKey(name)) {
                    throw new UnsupportedOperationException("no component is called " + name);
                }
                current = components.get(name);
                current.reset(request.path("config"));
                return Map.of();
            }
            default -> {
                return current.perform(operation, request.path("args"));
            }
        }
    }

    private Map<String, Object> hello(String schema) throws IOException {
        if (!SCHEMA.equals(schema)) {
            throw new UnsupportedOperationException("this driver speaks " + SCHEMA);
        }
        return Map.of(
                "impl", "kafka-server-common and kafka-clients",
                "version", KafkaVersion.read(),
                "components", List.copyOf(components.keySet()),
                "capabilities", CAPABILITIES,
                "profiles",
                        components.keySet().stream()
                                .collect(Collectors.toMap(name -> name, name -> "kafka")));
    }
}
