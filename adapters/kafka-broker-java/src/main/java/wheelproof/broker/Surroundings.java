package wheelproof.broker;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.metrics.JmxReporter;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.FeaturesImage;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ReplicationQuotaManagerConfig;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.quota.QuotaFactory.QuotaManagers;
import org.apache.kafka.server.quota.QuotaType;
import org.apache.kafka.server.quota.ReplicationQuotaManager;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.server.util.timer.SystemTimer;
import scala.Option;

/**
 * What is around a ReplicaManager, and the same for every broker of a process.
 *
 * <p>What is made here once would otherwise be made for each of thousands of cases.
 */
final class Surroundings {
    static final long BROKER_EPOCH = 1;
    /** Where the broker of this process writes; there is one at a time. */
    static final Path FOLDER = Path.of(
            System.getProperty("java.io.tmpdir"), "wheelproof-broker-" + ProcessHandle.current().pid());
    /** The metadata of a cluster in which nobody else is alive, so that nobody is fetched from. */
    static final MetadataImage IMAGE = imageWithoutBrokers();
    static final MetadataCache METADATA = metadata();
    private static final Map<List<Integer>, KafkaConfig> CONFIGS = new ConcurrentHashMap<>();

    static {
        // Nobody looks at the gauges, and a bean costs as much as an append.
        KafkaYammerMetrics.INSTANCE.configure(Map.of(JmxReporter.EXCLUDE_CONFIG, ".*"));
    }

    private Surroundings() {}

    static KafkaConfig config(int brokerId, int replicaLagTimeMaxMs) {
        return CONFIGS.computeIfAbsent(
                List.of(brokerId, replicaLagTimeMaxMs),
                key -> new KafkaConfig(Map.of(
                        "process.roles", "broker",
                        "node.id", String.valueOf(brokerId),
                        "controller.quorum.bootstrap.servers", "localhost:1",
                        "controller.listener.names", "CONTROLLER",
                        "listeners", "PLAINTEXT://localhost:2",
                        "log.dirs", FOLDER.toString(),
                        "replica.fetch.wait.max.ms", "1",
                        "replica.lag.time.max.ms", String.valueOf(replicaLagTimeMaxMs))));
    }

    /** Quotas that nobody has set. */
    static QuotaManagers quotas(Metrics metrics, Time time) {
        ReplicationQuotaManager quota = new ReplicationQuotaManager(
                new ReplicationQuotaManagerConfig(), metrics, QuotaType.LEADER_REPLICATION, time);
        return new QuotaManagers(null, null, null, null, quota, quota, quota, Optional.empty());
    }

    /** The purgatory of requests that nobody makes. */
    static <T extends DelayedOperation> Option<DelayedOperationPurgatory<T>> idle(String name) {
        return Option.apply(new DelayedOperationPurgatory<>(name, new SystemTimer(name), 0, 1, false, true));
    }

    private static MetadataImage imageWithoutBrokers() {
        MetadataImage empty = MetadataImage.EMPTY;
        return new MetadataImage(
                empty.provenance(),
                new FeaturesImage(Map.of(), MetadataVersion.latestProduction()),
                empty.cluster(), empty.topics(), empty.configs(), empty.clientQuotas(),
                empty.producerIds(), empty.acls(), empty.scram(), empty.delegationTokens());
    }

    private static MetadataCache metadata() {
        return (MetadataCache) Proxy.newProxyInstance(
                Surroundings.class.getClassLoader(),
                new Class<?>[] {MetadataCache.class},
                (proxy, asked, arguments) -> switch (asked.getName()) {
                    case "getAliveBrokerEpoch" -> Optional.of(BROKER_EPOCH);
                    case "metadataVersion" -> MetadataVersion.latestProduction();
                    case "contains", "isBrokerFenced", "isBrokerShuttingDown" -> false;
                    default -> throw new UnsupportedOperationException(asked.getName());
                });
    }

    /** Does nothing later: what the broker does now and then, the caller asks for. */
    static final class IdleScheduler implements Scheduler {
        @Override
        public void startup() {}

        @Override
        public void shutdown() {}

        @Override
        public void resizeThreadPool(int threads) {}

        @Override
        public ScheduledFuture<?> schedule(
                String name, Runnable task, long delayMs, long periodMs) {
            return null;
        }
    }

    /** Removes all that has been written. */
    static void clear() throws IOException {
        try (Stream<Path> all = Files.walk(FOLDER)) {
            all.sorted(Comparator.reverseOrder()).forEach(one -> one.toFile().delete());
        }
    }
}
