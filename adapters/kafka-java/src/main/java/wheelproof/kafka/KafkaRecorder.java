package wheelproof.kafka;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.internals.AccumulatorLoad;
import org.apache.kafka.clients.producer.internals.BufferPoolLoad;
import org.apache.kafka.server.purgatory.KafkaPurgatory;
import wheelproof.recording.Recording;
import wheelproof.recording.WorkLoad;
import wheelproof.recording.Worker;

/**
 * Records Apache Kafka's own classes under load, on the clock of the machine; `load COMPONENT` does
 * the work that `wheelproof load` gives.
 */
final class KafkaRecorder {
    private static final String NAME = "kafka-server-common and kafka-clients";
    private static final Map<String, Supplier<WorkLoad>> LOADS = Map.of(
            "purgatory", KafkaPurgatory::load,
            "buffer_pool", () -> new BufferPoolLoad(false),
            "accumulator", () -> new AccumulatorLoad(false));

    private KafkaRecorder() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("load")) {
            System.exit(load(Arrays.asList(arguments)));
        }
        Recording recording = new Recording(
                NAME, KafkaVersion.read(), "kafka", Map.of(
                        "timer", number -> SystemTimerUnderLoad.load(),
                        "purgatory", number -> KafkaPurgatory.load(),
                        "buffer_pool", number -> new BufferPoolLoad(isOdd(number)),
                        "accumulator", number -> new AccumulatorLoad(isOdd(number))));
        System.exit(recording.run(arguments));
    }

    private static int load(List<String> arguments) throws Exception {
        String component = arguments.size() > 1 ? arguments.get(1) : "";
        if (!LOADS.containsKey(component)) {
            System.err.println("load: the components are " + String.join(", ", LOADS.keySet()));
            return 2;
        }
        new Worker(NAME, KafkaVersion.read(), component, "kafka",
                arguments.contains("wheelproof"), LOADS.get(component)).serve();
        return 0;
    }

    private static boolean isOdd(int number) {
        return number % 2 == 1;
    }
}
