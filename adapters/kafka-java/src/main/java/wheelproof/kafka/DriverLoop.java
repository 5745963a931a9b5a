package wheelproof.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Answers the driver protocol (wheelproof.driver/1) with the components that it is given. */
public final class DriverLoop {
    private static final String SCHEMA = "wheelproof.driver/1";

    private final String implementation;
    private final String version;
    private final Map<String, Component> components;
    private final List<String> capabilities;
    private Component current;

    /** Serves `components`, by their names in the protocol. */
    public DriverLoop(
            String implementation, String version, Map<String, Component> components,
            List<String> capabilities) {
        this.implementation = implementation;
        this.version = version;
        this.components = new TreeMap<>(components);
        this.capabilities = capabilities;
    }

    /** Answers the requests on standard input until the last one. */
    public void run() throws IOException {
        OutputStream output = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out));
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String operation = "";
        while (!operation.equals("bye")) {
            String line = input.readLine();
            if (line == null) {
                break;
            }
            JsonNode request = Json.parse(line);
            operation = request.path("op").asText();
            output.write(Json.format(answer(operation, request)));
            output.write('\n');
            // Who sends ahead gets the answers in one go.
            if (!input.ready()) {
                output.flush();
            }
        }
        output.flush();
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

    private Map<String, Object> hello(String schema) {
        if (!SCHEMA.equals(schema)) {
            throw new UnsupportedOperationException("this driver speaks " + SCHEMA);
        }
        return Map.of(
                "impl", implementation,
                "version", version,
                "components", List.copyOf(components.keySet()),
                "capabilities", capabilities,
                "profiles",
                        components.keySet().stream()
                                .collect(Collectors.toMap(name -> name, name -> "kafka")));
    }
}
