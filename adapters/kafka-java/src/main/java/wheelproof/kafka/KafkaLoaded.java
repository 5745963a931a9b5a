package wheelproof.kafka;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.internals.AccumulatorLoad;
import org.apache.kafka.clients.producer.internals.BufferPoolLoad;
import org.apache.kafka.server.purgatory.KafkaPurgatory;
import wheelproof.recording.WorkLoad;
import wheelproof.recording.Worker;

/** Does the work of `wheelproof load` with one of Apache Kafka's own classes. */
final class KafkaLoaded {
    private static final Map<String, Supplier<WorkLoad>> LOADS = Map.of(
            "purgatory", KafkaPurgatory::load,
            "buffer_pool", () -> new BufferPoolLoad(false),
            "accumulator", () -> new AccumulatorLoad(false));

    private KafkaLoaded() {}

    public static void main(String[] arguments) throws Exception {
        String component = arguments.length > 0 ? arguments[0] : "";
        if (!LOADS.containsKey(component)) {
            System.err.println("load: the components are " + String.join(", ", LOADS.keySet()));
            System.exit(2);
        }
        boolean asReference = Arrays.asList(arguments).contains("wheelproof");
        new Worker("kafka-server-common and kafka-clients", KafkaVersion.read(), component,
                "kafka", asReference, LOADS.get(component)).serve();
        System.exit(0);
    }
}
