package wheelproof.ports;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.CaffeinePort;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Timers in Java behind the protocol wheelproof.driver/1: `Main pekko`, `Main caffeine`. */
final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A port: what it answers to hello, and how it is made. */
    private record Offer(
            String impl,
            String version,
            String profile,
            Map<String, Map<String, Object>> bounds,
            Port.Maker maker) {}

    private final Offer offer;
    private final List<String> ran = new ArrayList<>();
    private Port port;

    private Main(Offer offer) {
        this.offer = offer;
        this.port = offer.maker.make(1, 1, 0, ran::add);
    }

    public static void main(String[] arguments) throws IOException {
        Main driver = new Main(offer(arguments.length == 0 ? "" : arguments[0]));
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

    private static Offer offer(String name) {
        return switch (name) {
            case "pekko" -> new Offer(
                    "pekko LightArrayRevolverScheduler",
                    org.apache.pekko.Version.current(),
                    "exact,late_ticks=2,order=any",
                    PekkoPort.BOUNDS,
                    PekkoPort::new);
            case "caffeine" -> new Offer(
                    "caffeine TimerWheel",
                    CaffeinePort.VERSION,
                    "within-a-tick",
                    CaffeinePort.BOUNDS,
                    CaffeinePort::new);
            default -> throw new IllegalArgumentException("there is no port " + name);
        };
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
            case "add" -> port.add(task, args.get("delay_ms").asLong());
            case "cancel" -> ok.put("cancelled", port.cancel(task));
            case "advance" -> port.advance(args.get("to_ms").asLong());
            // Neither counts what waits.
            case "size" -> {}
            default -> throw new IllegalArgumentException(operation + " is no operation");
        }
        ok.set("fired", JSON.valueToTree(ran));
        ran.clear();
        return ok;
    }

    private ObjectNode hello(ObjectNode ok) {
        ok.put("impl", offer.impl).put("version", offer.version);
        ok.putArray("components").add("timer");
        ok.putArray("capabilities").add("virtual_time");
        ok.putObject("profiles").put("timer", offer.profile);
        ok.putObject("bounds").set("timer", JSON.valueToTree(offer.bounds));
        return ok;
    }

    private void reset(JsonNode config) {
        port.close();
        long tickMs = config.get("tick_ms").asLong();
        int wheelSize = config.get("wheel_size").asInt();
        port = offer.maker.make(tickMs, wheelSize, config.get("start_ms").asLong(), ran::add);
        ran.clear();
    }
}
