package wheelproof.recording;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The command `load`: reads the work of one component, does it, and prints what happened. */
public final class Worker {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, ?> introduction;
    private final boolean asReference;
    private final Supplier<WorkLoad> loads;

    /** Knows the component; with `asReference` it claims what the reference promises. */
    public Worker(
            String implementation, String version, String component, String profile,
            boolean asReference, Supplier<WorkLoad> loads) throws Exception {
        this.asReference = asReference;
        this.loads = loads;
        introduction = Map.of(
                "impl", implementation, "version", version, "components", List.of(component),
                "capabilities", loads.get().capabilities(), "profiles", Map.of(component, profile));
    }

    /** Answers until the goodbye. */
    public void serve() throws Exception {
        BufferedReader lines = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        List<JsonNode> steps = new ArrayList<>();
        JsonNode config = null;
        WorkLoad load = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            Map<String, ?> answer = Map.of();
            switch (asked.get("op").asText()) {
                case "hello" -> answer = introduction;
                case "reset" -> {
                    load = loads.get();
                    config = asked.get("config");
                    steps = new ArrayList<>();
                    answer = Map.of(
                            "config", claims(load),
                            "clock_resolution_ns", Recorder.CLOCK_RESOLUTION_NS);
                }
                case "run" -> {
                    Recorder recorder = new Recorder(load::refusal);
                    load.work(recorder, new Work(config, asked.get("callers").asInt(), steps));
                    recorder.print(out);
                    answer = Map.of("quiet", true);
                }
                case "bye" -> { }
                default -> {
                    steps.add(asked);
                    continue;
                }
            }
            out.println(JSON.writeValueAsString(
                    Map.of("id", asked.get("id").asInt(), "ok", answer)));
            out.flush();
        }
    }

    private Map<String, ?> claims(WorkLoad load) {
        Map<String, Object> claims = new TreeMap<>(load.claims());
        if (asReference) {
            claims.putAll(load.referencePromises());
        }
        return claims;
    }
}
