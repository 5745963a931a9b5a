package wheelproof.broker;

import java.util.Arrays;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.recording.Worker;

/** Does the work of `wheelproof load` with Apache Kafka's own ReplicaManager. */
final class BrokerLoaded {
    private BrokerLoaded() {}

    public static void main(String[] arguments) throws Exception {
        boolean elections = Boolean.getBoolean(BrokerRecorder.ELECTIONS);
        new Worker(BrokerDriver.IMPLEMENTATION, AppInfoParser.getVersion(), "replication", "kafka",
                Arrays.asList(arguments).contains("wheelproof"),
                () -> new ReplicationLoad(elections)).serve();
        System.exit(0);
    }
}
