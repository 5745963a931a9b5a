package wheelproof.agrona;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/**
 * Agrona's DeadlineTimerWheel behind the protocol wheelproof.driver/1.
 *
 * <p>An advance does what the duty cycle of a user does: it polls with the time that the clock shows
 * until the wheel has come to that time. An id is good until its timer has run.
 */
final class AgronaDriver {
    private static final ObjectMapper JSON = new ObjectMapper();

    private DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, 1, 32);
    private long nowMs;
    private final Map<String, Long> idOfTask = new HashMap<>();
    private final Map<Long, String> taskOfId = new HashMap<>();
    private final List<String> ran = new ArrayList<>();

    public static void main(String[] arguments) throws IOException {
        AgronaDriver driver = new AgronaDriver();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode reply = JSON.createObjectNode().put("id", request.get("id").asLong());
            try {
                reply.set("ok", driver.perform(request.get("op").asText(), request));
            } catch (RuntimeException refusal) {
                reply.putObject("error")
                        .put("kind", refusal.getClass().getSimpleName())
                        .put("message", String.valueOf(refusal.getMessage()));
            }
            System.out.println(reply);
            if (request.get("op").asText().equals("bye")) {
                return;
            }
        }
    }

    private ObjectNode perform(String operation, JsonNode request) {
        ObjectNode ok = JSON.createObjectNode();
        JsonNode args = request.path("args");
        String task = args.path("task").asText();
        switch (operation) {
            case "hello" -> {
                return hello(ok);
            }
            case "bye" -> {
                return ok;
            }
            case "reset" -> {
                reset(request.get("config"));
                return ok;
            }
            case "add" -> add(task, args.get("delay_ms").asLong());
            case "cancel" -> ok.put("cancelled", cancel(task));
            case "advance" -> advance(args.get("to_ms").asLong());
            case "size" -> ok.put("size", wheel.timerCount());
            default -> throw new IllegalArgumentException(operation + " is no operation");
        }
        ok.set("fired", JSON.valueToTree(ran));
        ran.clear();
        return ok;
    }

    private static ObjectNode hello(ObjectNode ok) {
        ok.put("impl", "agrona DeadlineTimerWheel").put("version", "2.6.0");
        ok.putArray("components").add("timer");
        ok.putArray("capabilities").add("virtual_time");
        ok.putObject("profiles").put("timer", "exact");
        // "must be power of 2" both; a deadline before now is put into the current tick.
        ObjectNode bounds = ok.putObject("bounds").putObject("timer");
        bounds.putObject("tick_ms").put("power_of_two", true);
        bounds.putObject("wheel_size").put("power_of_two", true);
        bounds.putObject("delay_ms").put("least", 0);
        return ok;
    }

    private void reset(JsonNode config) {
        nowMs = config.get("start_ms").asLong();
        long tickMs = config.get("tick_ms").asLong();
        int wheelSize = config.get("wheel_size").asInt();
        wheel = new DeadlineTimerWheel(TimeUnit.MILLISECONDS, nowMs, tickMs, wheelSize);
        idOfTask.clear();
        taskOfId.clear();
        ran.clear();
    }

    private void add(String task, long delayMs) {
        cancel(task);
        long id = wheel.scheduleTimer(nowMs + delayMs);
        idOfTask.put(task, id);
        taskOfId.put(id, task);
    }

    private boolean cancel(String task) {
        Long id = idOfTask.remove(task);
        if (id == null) {
            return false;
        }
        taskOfId.remove(id);
        return wheel.cancelTimer(id);
    }

    private void advance(long toMs) {
        nowMs = toMs;
        long tick;
        do {
            tick = wheel.currentTickTime();
            wheel.poll(toMs, this::expire, Integer.MAX_VALUE);
        } while (wheel.currentTickTime() != tick);
    }

    private boolean expire(TimeUnit unit, long now, long id) {
        String task = taskOfId.remove(id);
        idOfTask.remove(task);
        return ran.add(task);
    }
}
