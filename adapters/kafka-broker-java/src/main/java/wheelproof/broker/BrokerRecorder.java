package wheelproof.broker;

import java.io.IOException;
import java.util.Map;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.recording.Recording;

/** Records Apache Kafka's own ReplicaManager under load, on the clock of the machine. */
final class BrokerRecorder {
    /** With this property the broker loses partitions, too; not each such history is explained. */
    static final String ELECTIONS = "wheelproof.elections";

    private BrokerRecorder() {}

    public static void main(String[] arguments) throws IOException {
        Recording recording = new Recording(
                BrokerDriver.IMPLEMENTATION, AppInfoParser.getVersion(), "kafka",
                Map.of("replication", number -> new ReplicationLoad(Boolean.getBoolean(ELECTIONS))));
        System.exit(recording.run(arguments));
    }
}
