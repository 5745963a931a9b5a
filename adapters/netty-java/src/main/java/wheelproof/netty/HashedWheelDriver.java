package wheelproof.netty;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Answers the driver protocol (wheelproof.driver/1) with the HashedWheelTimer of a project. */
public final class HashedWheelDriver implements Runnable {
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

    private final String project;
    private Wheel wheel;
    private Map<String, BooleanSupplier> cancels = new HashMap<>();
    private final List<String> fired = new ArrayList<>();

    /** Drives the wheel of a project, see {@link Wheel#of}. */
    public HashedWheelDriver(String project) {
        this.project = project;
    }

    @Override
    public void run() {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String operation = "";
        try {
            while (!operation.equals("bye")) {
                String line = input.readLine();
                if (line == null) {
                    break;
                }
                JsonNode request = JSON.readTree(line);
                operation = request.path("op").asText();
                output.print(JSON.writeValueAsString(answer(request)) + "\n");
                output.flush();
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } finally {
            stop();
        }
    }

    private Map<String, Object> answer(JsonNode request) {
        long id = request.path("id").asLong();
        try {
            return Map.of("id", id, "ok", perform(request));
        } catch (Exception error) {
            String kind = error.getClass().getSimpleName().replaceFirst("Exception$", "");
            String message = String.valueOf(error.getMessage());
            return Map.of("id", id, "error", Map.of("kind", kind, "message", message));
        }
    }

    private Map<String, Object> perform(JsonNode request) throws Exception {
        JsonNode args = request.path("args");
        switch (request.path("op").asText()) {
            case "hello" -> {
                return hello(request.path("schema").asText());
            }
            case "bye" -> {
                return Map.of();
            }
            case "reset" -> {
                reset(JSON.treeToValue(request.path("config"), Config.class));
                return Map.of();
            }
            case "add" -> {
                Add add = JSON.treeToValue(args, Add.class);
                cancel(add.task);
                cancels.put(add.task, wheel.adding().add(() -> fired.add(add.task), add.delay_ms));
            }
            case "cancel" -> {
                boolean cancelled = cancel(JSON.treeToValue(args, Cancel.class).task);
                return Map.of("cancelled", cancelled, "fired", takeFired());
            }
            case "advance" -> {
                VirtualClock.advanceTo(nanos(JSON.treeToValue(args, Advance.class).to_ms));
            }
            case "size" -> {
                return Map.of("size", wheel.pending().getAsLong(), "fired", takeFired());
            }
            default -> throw new UnsupportedOperationException("no operation of this name");
        }
        return Map.of("fired", takeFired());
    }

    /** Makes a wheel whose ticks begin at multiples of the tick, wherever its clock starts. */
    private void reset(Config config) throws InterruptedException {
        stop();
        cancels = new HashMap<>();
        takeFired();
        VirtualClock.reset(nanos(config.start_ms / config.tick_ms * config.tick_ms));
        wheel = Wheel.of(project).make(config.tick_ms, config.wheel_size);
        wheel.start().run();
        VirtualClock.advanceTo(nanos(config.start_ms));
    }

    private boolean cancel(String task) {
        BooleanSupplier cancel = cancels.remove(task);
        return cancel != null && cancel.getAsBoolean();
    }

    /** The wheel's worker has come to rest, and has handed over what it did through the clock. */
    private List<String> takeFired() {
        List<String> taken = List.copyOf(fired);
        fired.clear();
        return taken;
    }

    private void stop() {
        if (wheel != null) {
            wheel.stop().run();
        }
    }

    /** Not 0 at 0 ms, since the wheel takes a start at 0 for none. */
    private static long nanos(long millis) {
        return Math.addExact(Math.multiplyExact(millis, 1_000_000L), 1L);
    }

    private Map<String, Object> hello(String schema) throws IOException {
        if (!SCHEMA.equals(schema)) {
            throw new UnsupportedOperationException("this driver speaks " + SCHEMA);
        }
        return Map.of(
                "impl", Release.nameOf(project),
                "version", Release.versionOf(project),
                "components", List.of("timer"),
                "capabilities", List.of("virtual_time"),
                "profiles", Map.of("timer", "hashed-wheel"));
    }
}
