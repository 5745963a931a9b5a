package wheelproof.broker;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.kafka.DriverLoop;

/** Drives Apache Kafka's own ReplicaManager. */
final class BrokerDriver {
    static final String IMPLEMENTATION = "kafka-server";

    private BrokerDriver() {}

    public static void main(String[] arguments) throws IOException {
        ReplicationComponent replication = new ReplicationComponent();
        Runtime.getRuntime().addShutdownHook(new Thread(replication::close));
        new DriverLoop(
                        IMPLEMENTATION, AppInfoParser.getVersion(),
                        Map.of("replication", replication), List.of("virtual_time"))
                .run();
        System.exit(0);
    }
}
