package wheelproof.kafka;

import java.io.IOException;
import java.util.Map;
import org.apache.kafka.clients.producer.internals.AccumulatorLoad;
import org.apache.kafka.clients.producer.internals.BufferPoolLoad;
import org.apache.kafka.server.purgatory.KafkaPurgatory;
import wheelproof.recording.Recording;

/** Records Apache Kafka's own classes under load, on the clock of the machine. */
final class KafkaRecorder {
    private KafkaRecorder() {}

    public static void main(String[] arguments) throws IOException {
        Recording recording = new Recording(
                "kafka-server-common and kafka-clients", KafkaVersion.read(), "kafka", Map.of(
                        "timer", number -> SystemTimerUnderLoad.load(),
                        "purgatory", number -> KafkaPurgatory.load(),
                        "buffer_pool", number -> new BufferPoolLoad(isOdd(number)),
                        "accumulator", number -> new AccumulatorLoad(isOdd(number))));
        System.exit(recording.run(arguments));
    }

    private static boolean isOdd(int number) {
        return number % 2 == 1;
    }
}
