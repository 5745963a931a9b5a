package wheelproof.broker;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafka.cluster.DelayedOperations;
import kafka.cluster.Partition;
import kafka.server.DelayedFetch;
import kafka.server.share.DelayedShareFetch;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.partition.AlterPartitionListener;
import org.apache.kafka.server.partition.AlterPartitionManager;
import org.apache.kafka.server.purgatory.DelayedDeleteRecords;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.purgatory.DelayedProduce;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Option;

/**
 * Broker 0 with one partition that broker 1 replicates: Kafka's partition, log and purgatories, with
 * stand-ins for the controller and the manager of logs.
 */
final class LonelyBroker {
    static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    static final Uuid TOPIC = Uuid.randomUuid();

    private static final OffsetCheckpoints NO_CHECKPOINTS = (folder, partition) -> Optional.empty();
    private static final int EVERYTHING = 1 << 16;
    private static final int LONG_MS = 60_000;
    private static final short ALL_IN_SYNC = 2;

    final DelayedOperationPurgatory<DelayedProduce> produce =
            new DelayedOperationPurgatory<>("Produce", 0);
    final Partition partition;
    private final UnifiedLog log;

    LonelyBroker() throws Exception {
        log = newLog();
        partition = newPartition(managerOf(log));
    }

    private static UnifiedLog newLog() throws Exception {
        File folder = new File(Files.createTempDirectory("wheelproof").toFile(), "topic-0");
        if (!folder.mkdirs()) {
            throw new IOException("no folder " + folder);
        }
        return UnifiedLog.create(
                folder,
                new LogConfig(Map.of("min.insync.replicas", "1")),
                0,
                0,
                mock(Scheduler.class),
                new BrokerTopicStats(),
                Time.SYSTEM,
                LONG_MS,
                new ProducerStateManagerConfig(LONG_MS, false),
                LONG_MS,
                new LogDirFailureChannel(1),
                true,
                Optional.of(TOPIC));
    }

    private static LogManager managerOf(UnifiedLog log) throws Exception {
        LogManager manager = mock(LogManager.class);
        when(manager.getOrCreateLog(any(), anyBoolean(), anyBoolean(), any(), any()))
                .thenReturn(log);
        doAnswer(call -> {
                    Map<TopicPartition, Long> offsets = call.getArgument(0);
                    return log.truncateTo(offsets.get(PARTITION));
                })
                .when(manager)
                .truncateTo(any(), anyBoolean());
        return manager;
    }

    private Partition newPartition(LogManager manager) throws Exception {
        MetadataCache metadata = mock(MetadataCache.class);
        when(metadata.getAliveBrokerEpoch(anyInt())).thenReturn(Optional.of(1L));
        DelayedOperations delayed = new DelayedOperations(
                Option.apply(TOPIC),
                PARTITION,
                produce,
                new DelayedOperationPurgatory<DelayedFetch>("Fetch", 0),
                new DelayedOperationPurgatory<DelayedDeleteRecords>("Delete", 0),
                new DelayedOperationPurgatory<DelayedShareFetch>("Share", 0));
        return new Partition(
                PARTITION,
                LONG_MS,
                0,
                () -> (Object) 1L,
                Time.SYSTEM,
                mock(AlterPartitionListener.class),
                delayed,
                metadata,
                manager,
                mock(AlterPartitionManager.class),
                Option.empty());
    }

    /** Makes this broker the leader in `epoch`. */
    void lead(int epoch) throws Exception {
        partition.makeLeader(
                registration(0, epoch), epoch == 0, NO_CHECKPOINTS, Option.apply(TOPIC), Option.empty());
    }

    /** Makes this broker a follower in `epoch`; its log is empty afterwards. */
    void followAndTruncate(int epoch) throws Exception {
        partition.makeFollower(
                registration(1, epoch), false, NO_CHECKPOINTS, Option.apply(TOPIC), Option.empty());
        partition.truncateTo(0, false);
    }

    private static PartitionRegistration registration(int leader, int epoch) {
        return new PartitionRegistration.Builder()
                .setReplicas(new int[] {0, 1})
                .setDirectories(new Uuid[] {DirectoryId.UNASSIGNED, DirectoryId.UNASSIGNED})
                .setIsr(new int[] {0, 1})
                .setLeader(leader)
                .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
                .setLeaderEpoch(epoch)
                .setPartitionEpoch(epoch)
                .build();
    }

    /** Appends a record as the leader and returns the offset that the replicas have to reach. */
    long append(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        MemoryRecords records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(bytes));
        return partition.appendRecordsToLeader(
                                records,
                                AppendOrigin.CLIENT,
                                -1,
                                RequestLocal.noCaching(),
                                VerificationGuard.SENTINEL,
                                ALL_IN_SYNC)
                        .lastOffset()
                + 1;
    }

    /** Broker 1 has fetched up to `offset`. */
    void replicated(long offset) {
        partition.updateFollowerFetchState(
                partition.getReplica(1).get(),
                new LogOffsetMetadata(offset),
                0,
                System.currentTimeMillis(),
                offset,
                1);
    }

    /** Returns the values in the log, in their order. */
    List<String> content() throws IOException {
        List<String> values = new ArrayList<>();
        Records records =
                (Records) log.read(0, EVERYTHING, FetchIsolation.LOG_END, true).records;
        for (Record record : records.records()) {
            byte[] value = new byte[record.valueSize()];
            record.value().get(value);
            values.add(new String(value, StandardCharsets.UTF_8));
        }
        return values;
    }
}
