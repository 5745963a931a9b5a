package wheelproof.kafka;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.internals.AccumulatorComponent;
import org.apache.kafka.clients.producer.internals.BufferPoolComponent;
import org.apache.kafka.server.purgatory.PurgatoryComponent;
import org.apache.kafka.server.util.timer.TimerComponent;

/** Drives Apache Kafka's own classes of the timer, the purgatory and the producer. */
final class KafkaDriver {
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
                    "memory",
                    "ready",
                    "max_size",
                    "expire",
                    "reenqueue",
                    "split",
                    "many_batches",
                    "cancel_for_key");

    private KafkaDriver() {}

    public static void main(String[] arguments) throws IOException {
        Map<String, Component> components = Map.of(
                "timer", new TimerComponent(),
                "purgatory", new PurgatoryComponent(),
                "buffer_pool", new BufferPoolComponent(),
                "accumulator", new AccumulatorComponent());
        new DriverLoop(
                        "kafka-server-common and kafka-clients", KafkaVersion.read(), components,
                        CAPABILITIES)
                .run();
        System.exit(0);
    }
}
