package wheelproof.broker;

import java.io.IOException;
import java.util.Map;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.recording.Recording;

/** Records Apache Kafka's own ReplicaManager under load, on the clock of the machine. */
final class BrokerRecorder {
    private BrokerRecorder() {}

    public static void main(String[] arguments) throws IOException {
        Recording recording = new Recording(
                BrokerDriver.IMPLEMENTATION, AppInfoParser.getVersion(), "kafka",
                Map.of("replication", number -> new ReplicationLoad(number % 2 == 1)));
        System.exit(recording.run(arguments));
    }
}
