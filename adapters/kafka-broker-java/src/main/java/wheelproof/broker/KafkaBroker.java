package wheelproof.broker;

import com.yammer.metrics.core.MetricsRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import kafka.cluster.Partition;
import kafka.server.DelayedFetch;
import kafka.server.ReplicaManager;
import kafka.server.share.DelayedShareFetch;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.TopicsDelta;
import org.apache.kafka.image.TopicsImage;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.server.DelayedActionQueue;
import org.apache.kafka.server.common.DirectoryEventHandler;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.apache.kafka.server.partition.AlterPartitionManager;
import org.apache.kafka.server.purgatory.DelayedDeleteRecords;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.purgatory.DelayedProduce;
import org.apache.kafka.server.purgatory.DelayedRemoteFetch;
import org.apache.kafka.server.purgatory.DelayedRemoteListOffsets;
import org.apache.kafka.server.quota.QuotaFactory;
import org.apache.kafka.server.quota.ReplicaQuota;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.FileLock;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.CleanerConfig;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager;
import org.apache.kafka.storage.internals.log.LogReadResult;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;
import wheelproof.kafka.Purgatories;

/**
 * Kafka's ReplicaManager with its partitions, logs and purgatories, each topic with one partition.
 *
 * <p>The controller, the cache of metadata and the fetchers are stand-ins: the controller accepts
 * every change of the in-sync set at once, and nobody fetches from other brokers.
 */
final class KafkaBroker implements AutoCloseable {
    private static final int LONG_MS = 1 << 30;
    private static final int PURGE_INTERVAL = 1_000;
    private static final int INDEX_BYTES = 4_096;
    private static final short PRODUCE_VERSION = 11;
    private static final short TRANSACTION_VERSION = 2;

    /** How a broker is made; sizes are Kafka's. */
    record Settings(
            int brokerId, int segmentBytes, int minInSyncReplicas, int replicaLagTimeMaxMs) {}

    /** Makes the timer of a purgatory. */
    interface Timers {
        Timer make(String name);
    }

    private static final Option<DelayedOperationPurgatory<DelayedDeleteRecords>> DELETES =
            Surroundings.idle("Delete");
    private static final Option<DelayedOperationPurgatory<DelayedRemoteFetch>> REMOTE_FETCHES =
            Surroundings.idle("RemoteFetch");
    private static final Option<DelayedOperationPurgatory<DelayedRemoteListOffsets>>
            REMOTE_LIST_OFFSETS = Surroundings.idle("RemoteListOffsets");
    private static final Option<DelayedOperationPurgatory<DelayedShareFetch>> SHARE_FETCHES =
            Surroundings.idle("ShareFetch");

    final ReplicaManager manager;
    final DelayedOperationPurgatory<DelayedProduce> produces;
    final DelayedOperationPurgatory<DelayedFetch> fetches;
    private final List<Collection<?>> watchers = new ArrayList<>();
    private final int brokerId;
    private final LogManager logs;
    private final ReadWriteLock truncation = new ReentrantReadWriteLock();
    private final Map<Uuid, Integer> partitionEpochs = new ConcurrentHashMap<>();
    private final Map<Uuid, Integer> leaderEpochs = new ConcurrentHashMap<>();
    private TopicsImage topics = TopicsImage.EMPTY;

    KafkaBroker(Settings settings, Time time, Timers timers, boolean reaper) throws IOException {
        brokerId = settings.brokerId;
        Files.createDirectories(Surroundings.FOLDER);
        produces = purgatory("Produce", timers, reaper);
        fetches = purgatory("Fetch", timers, reaper);
        watchers.addAll(Purgatories.watchers(produces));
        watchers.addAll(Purgatories.watchers(fetches));
        LogDirFailureChannel failures = new LogDirFailureChannel(1);
        BrokerTopicStats stats = new BrokerTopicStats();
        Scheduler scheduler = new Surroundings.IdleScheduler();
        Metrics metrics = new Metrics(time);
        logs = newLogs(settings, time, scheduler, stats, failures);
        manager = new ReplicaManager(
                Surroundings.config(brokerId, settings.replicaLagTimeMaxMs), metrics, time,
                scheduler, logs, Option.empty(), Surroundings.quotas(metrics, time),
                Surroundings.METADATA, failures, alterations(), stats,
                Option.apply(produces), Option.apply(fetches), DELETES, REMOTE_FETCHES,
                REMOTE_LIST_OFFSETS, SHARE_FETCHES,
                () -> (Object) Surroundings.BROKER_EPOCH, Option.empty(), DirectoryEventHandler.NOOP,
                new DelayedActionQueue()) {
            /** Takes the bytes at once: what the log has given away is a part of its file. */
            @Override
            public Seq<Tuple2<TopicIdPartition, LogReadResult>> readFromLog(
                    FetchParams params,
                    Seq<Tuple2<TopicIdPartition, FetchRequest.PartitionData>> places,
                    ReplicaQuota throttle, boolean fromPurgatory) {
                truncation.readLock().lock();
                try {
                    var read = super.readFromLog(params, places, throttle, fromPurgatory);
                    var copied = CollectionConverters.asJava(read).stream()
                            .map(one -> new Tuple2<>(one._1, copied(one._2))).toList();
                    return CollectionConverters.asScala(copied).toSeq();
                } finally {
                    truncation.readLock().unlock();
                }
            }
        };
    }

    private static LogReadResult copied(LogReadResult read) {
        FetchDataInfo info = read.info();
        if (!(info.records instanceof FileRecords records)) {
            return read;
        }
        ByteBuffer bytes = ByteBuffer.allocate(records.sizeInBytes());
        try {
            records.readInto(bytes, 0);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return new LogReadResult(
                new FetchDataInfo(
                        info.fetchOffsetMetadata, MemoryRecords.readableRecords(bytes),
                        info.firstEntryIncomplete, info.abortedTransactions),
                read.divergingEpoch(), read.highWatermark(), read.leaderLogStartOffset(),
                read.leaderLogEndOffset(), read.followerLogStartOffset(), read.fetchTimeMs(),
                read.lastStableOffset(), read.error());
    }

    private <T extends DelayedOperation> DelayedOperationPurgatory<T> purgatory(
            String name, Timers timers, boolean reaper) {
        return new DelayedOperationPurgatory<>(name, timers.make(name), brokerId, PURGE_INTERVAL, reaper, true);
    }

    private LogManager newLogs(
            Settings settings, Time time, Scheduler scheduler, BrokerTopicStats stats,
            LogDirFailureChannel failures) throws IOException {
        LogConfig config = new LogConfig(Map.of(
                "internal.segment.bytes", String.valueOf(settings.segmentBytes),
                "segment.index.bytes", String.valueOf(INDEX_BYTES),
                "min.insync.replicas", String.valueOf(settings.minInSyncReplicas)));
        return new LogManager(
                List.of(Surroundings.FOLDER.toFile()), List.of(), resource -> new Properties(), config,
                new CleanerConfig(false), 1, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS,
                new ProducerStateManagerConfig(LONG_MS, false), LONG_MS, scheduler, stats, failures,
                time, false, LONG_MS, (cleaner, dirs, all, channel, clock) -> null);
    }

    private AlterPartitionManager alterations() {
        return new AlterPartitionManager() {
            @Override
            public void start() {}

            @Override
            public void shutdown() {}

            @Override
            public CompletableFuture<LeaderAndIsr> submit(
                    org.apache.kafka.server.common.TopicIdPartition partition, LeaderAndIsr wanted) {
                return altered(partition.topicId(), wanted);
            }
        };
    }

    int id() {
        return brokerId;
    }

    /** A controller takes no change of the in-sync set from a leader that it has replaced. */
    private CompletableFuture<LeaderAndIsr> altered(Uuid topic, LeaderAndIsr wanted) {
        synchronized (partitionEpochs) {
            if (leaderEpochs.getOrDefault(topic, -1) != wanted.leaderEpoch()) {
                return CompletableFuture.failedFuture(Errors.FENCED_LEADER_EPOCH.exception());
            }
            return CompletableFuture.completedFuture(wanted.withPartitionEpoch(nextEpoch(topic)));
        }
    }

    /** Returns the epoch of the partition with which a leader's own epoch begins. */
    private int elected(Uuid topic, int leaderEpoch) {
        synchronized (partitionEpochs) {
            leaderEpochs.put(topic, leaderEpoch);
            return nextEpoch(topic);
        }
    }

    private int nextEpoch(Uuid topic) {
        return partitionEpochs.merge(topic, 0, (epoch, zero) -> epoch + 1);
    }

    static TopicPartition partition(String name) {
        return new TopicPartition(name, 0);
    }

    private static Uuid topicOf(String name) {
        UUID id = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    private static TopicIdPartition identified(String name) {
        return new TopicIdPartition(topicOf(name), partition(name));
    }

    /** The controller has elected a leader: tells the broker by a change of the metadata. */
    synchronized void elect(
            String name, int leader, int epoch, List<Integer> replicas, List<Integer> inSync) {
        Uuid topic = topicOf(name);
        TopicsDelta delta = new TopicsDelta(topics);
        if (topics.getTopic(topic) == null) {
            delta.replay(new TopicRecord().setName(name).setTopicId(topic));
        }
        delta.replay(new PartitionRecord()
                .setTopicId(topic)
                .setPartitionId(0)
                .setReplicas(replicas)
                .setDirectories(replicas.stream().map(replica -> DirectoryId.UNASSIGNED).toList())
                .setIsr(inSync)
                .setLeader(leader)
                .setLeaderEpoch(epoch)
                .setPartitionEpoch(elected(topic, epoch)));
        apply(delta);
    }

    /** The topic has been deleted. */
    synchronized void delete(String name) {
        Uuid topic = topicOf(name);
        if (topics.getTopic(topic) != null) {
            TopicsDelta delta = new TopicsDelta(topics);
            synchronized (partitionEpochs) {
                leaderEpochs.remove(topic);
            }
            delta.replay(new RemoveTopicRecord().setTopicId(topic));
            apply(delta);
        }
    }

    private void apply(TopicsDelta delta) {
        manager.applyDelta(delta, Surroundings.IMAGE);
        topics = delta.apply();
    }

    /** Drops the log from an offset on, as the fetcher of a follower does. */
    void truncate(String name, long offset) {
        // Who waits for the lock would stop readers, and one of them may hold what another needs.
        while (!truncation.writeLock().tryLock()) {
            Thread.yield();
        }
        try {
            manager.getPartitionOrException(partition(name)).truncateTo(offset, false);
        } finally {
            truncation.writeLock().unlock();
        }
    }

    /** Does once what the broker's scheduler does again and again. */
    void maybeShrinkInSync() {
        for (TopicPartition partition : manager.allPartitions().keySet()) {
            Option<Partition> online = manager.onlinePartition(partition);
            if (online.isDefined()) {
                online.get().maybeShrinkIsr();
            }
        }
    }

    /** Serves a produce request, and does what the request handler does after each of them. */
    void append(
            long timeoutMs, int acks, Map<String, MemoryRecords> entries,
            Consumer<Map<TopicIdPartition, PartitionResponse>> callback) {
        Map<TopicIdPartition, MemoryRecords> identified = new LinkedHashMap<>();
        entries.forEach((name, records) -> {
            ProduceRequest.validateRecords(PRODUCE_VERSION, records);
            identified.put(identified(name), records);
        });
        manager.appendRecords(
                timeoutMs, (short) acks, false, AppendOrigin.CLIENT,
                CollectionConverters.asScala(identified),
                done(callback), done(statistics -> {}), RequestLocal.noCaching(),
                CollectionConverters.asScala(Map.of()), TRANSACTION_VERSION);
        manager.tryCompleteActions();
    }

    /** Serves a fetch request. */
    void fetch(
            FetchParams params, Map<String, FetchRequest.PartitionData> places,
            Consumer<Map<String, FetchPartitionData>> callback) {
        List<Tuple2<TopicIdPartition, FetchRequest.PartitionData>> asked = new ArrayList<>();
        places.forEach((name, place) -> asked.add(new Tuple2<>(identified(name), place)));
        manager.fetchMessages(
                params, CollectionConverters.asScala(asked).toSeq(), QuotaFactory.UNBOUNDED_QUOTA,
                done(data -> {
                    Map<String, FetchPartitionData> answers = new LinkedHashMap<>();
                    for (var answer : CollectionConverters.asJava(data)) {
                        answers.put(answer._1.topic(), answer._2);
                    }
                    callback.accept(answers);
                }));
        manager.tryCompleteActions();
    }

    private static <T> Function1<T, BoxedUnit> done(Consumer<T> consumer) {
        return value -> {
            consumer.accept(value);
            return BoxedUnit.UNIT;
        };
    }

    /** Makes a place to read from; an empty epoch is one that the fetcher does not tell. */
    static FetchRequest.PartitionData place(
            String name, long offset, int maxBytes, Optional<Integer> currentEpoch,
            Optional<Integer> lastEpoch) {
        return new FetchRequest.PartitionData(
                topicOf(name), offset, 0, maxBytes, currentEpoch, lastEpoch);
    }

    /** Makes the parameters of a follower's fetch, or of a consumer's. */
    static FetchParams params(OptionalInt replica, long maxWaitMs, int minBytes, int maxBytes) {
        return new FetchParams(
                replica.orElse(FetchRequest.CONSUMER_REPLICA_ID), Surroundings.BROKER_EPOCH, maxWaitMs, minBytes,
                maxBytes,
                replica.isPresent() ? FetchIsolation.LOG_END : FetchIsolation.HIGH_WATERMARK,
                Optional.empty());
    }

    /** How many requests wait. */
    int numDelayed() {
        return produces.numDelayed() + fetches.numDelayed();
    }

    /** How many watches the purgatories have. */
    int watched() {
        return produces.watched() + fetches.watched();
    }

    /** How many partitions have requests, of each purgatory. */
    int numKeys() {
        return Purgatories.numKeys(watchers);
    }

    /** Drops what is done from the lists, as a pass of the reapers does now and then. */
    void purge() {
        Purgatories.purge(watchers);
    }

    /** Does what the reapers, where their threads are not started, do again and again. */
    void reap() {
        Purgatories.reap(produces);
        Purgatories.reap(fetches);
    }

    /** The log of a partition, which the broker has. */
    UnifiedLog log(String name) {
        return manager.localLogOrException(partition(name));
    }

    /** Removes all that the broker has written. */
    @Override
    public void close() {
        // Gauges keep hold of the broker, and who keeps them is never let go.
        MetricsRegistry metrics = KafkaYammerMetrics.defaultRegistry();
        metrics.allMetrics().keySet().forEach(metrics::removeMetric);
        logs.allLogs().forEach(UnifiedLog::closeQuietly);
        try {
            for (FileLock lock : logs.dirLocks()) {
                lock.destroy();
            }
            Surroundings.clear();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
