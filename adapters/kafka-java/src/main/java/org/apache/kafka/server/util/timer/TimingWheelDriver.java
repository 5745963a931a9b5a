package org.apache.kafka.server.util.timer;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Answers the driver protocol (wheelproof.driver/1) with Apache Kafka's own timing wheel. */
final class TimingWheelDriver {
    private static final String SCHEMA = "wheelproof.driver/1";
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build();

    private record Config(long tick_ms, int wheel_size, long start_ms) {}

    private record Add(String task, long delay_ms) {}

    private record Cancel(String task) {}

    private record Advance(long to_ms) {}

    private VirtualTimer timer;

    public static void main(String[] arguments) throws IOException {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        TimingWheelDriver driver = new TimingWheelDriver();
        String operation = "";
        while (!operation.equals("bye")) {
            String line = input.readLine();
            if (line == null) {
                return;
            }
            JsonNode request = JSON.readTree(line);
            operation = request.path("op").asText();
            output.print(JSON.writeValueAsString(driver.answer(request)) + "\n");
            output.flush();
        }
    }

    private Map<String, Object> answer(JsonNode request) {
        long id = request.path("id").asLong();
        try {
            return Map.of("id", id, "ok", perform(request));
        } catch (Exception | StackOverflowError error) {
            String kind = error.getClass().getSimpleName().replaceFirst("Exception$", "");
            String message = String.valueOf(error.getMessage());
            return Map.of("id", id, "error", Map.of("kind", kind, "message", message));
        }
    }

    private Map<String, Object> perform(JsonNode request) throws IOException {
        JsonNode args = request.path("args");
        switch (request.path("op").asText()) {
            case "hello" -> {
                return hello(request.path("schema").asText());
            }
            case "bye" -> {
                return Map.of();
            }
            case "reset" -> {
                Config config = JSON.treeToValue(request.path("config"), Config.class);
                timer = new VirtualTimer(config.tick_ms, config.wheel_size, config.start_ms);
                return Map.of();
            }
            case "add" -> {
                Add add = JSON.treeToValue(args, Add.class);
                timer.add(add.task, add.delay_ms);
            }
            case "cancel" -> timer.cancel(JSON.treeToValue(args, Cancel.class).task);
            case "advance" -> timer.advance(JSON.treeToValue(args, Advance.class).to_ms);
            case "size" -> {
                return Map.of("size", timer.size(), "fired", timer.takeSubmitted());
            }
            default -> throw new UnsupportedOperationException("no operation of this name");
        }
        return Map.of("fired", timer.takeSubmitted());
    }

    private static Map<String, Object> hello(String schema) throws IOException {
        if (!SCHEMA.equals(schema)) {
            throw new UnsupportedOperationException("this driver speaks " + SCHEMA);
        }
        return Map.of(
                "impl", "kafka-server-common",
                "version", kafkaVersion(),
                "components", List.of("timer"),
                "capabilities", List.of("virtual_time"));
    }

    /** Reads the version out of the very jar that the wheel was loaded from. */
    static String kafkaVersion() throws IOException {
        var jar = TimingWheel.class.getProtectionDomain().getCodeSource().getLocation();
        var entry = URI.create("jar:" + jar + "!/kafka/kafka-version.properties").toURL();
        Properties properties = new Properties();
        try (InputStream stream = entry.openStream()) {
            properties.load(stream);
        }
        return properties.getProperty("version");
    }
}
