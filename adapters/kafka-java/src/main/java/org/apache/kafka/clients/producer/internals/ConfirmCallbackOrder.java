package org.apache.kafka.clients.producer.internals;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.internals.LogContext;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.VirtualTime;

/** The callbacks of one partition, run by Kafka's Sender, whose broker never answers. */
final class ConfirmCallbackOrder {
    private static final String TOPIC = "topic";
    private static final String GROUP = "confirm";
    private static final int BATCH_SIZE = 256;
    private static final int REQUEST_TIMEOUT_MS = 1_000;
    private static final int DELIVERY_TIMEOUT_MS = 1_000;
    private static final long EXPIRE_MS = 300_000;
    private static final int MANY = 20;
    private static final short ALL = -1;

    private final VirtualTime time = new VirtualTime(0);
    private final Metrics metrics = new Metrics();
    private final LogContext log = new LogContext();
    private final List<Integer> order = new ArrayList<>();
    private final SilentClient client = new SilentClient();
    private final ProducerMetadata metadata = new ProducerMetadata(
            1, 1, EXPIRE_MS, EXPIRE_MS, log, new ClusterResourceListeners());
    private final RecordAccumulator accumulator = new RecordAccumulator(
            log, BATCH_SIZE, Compression.NONE, 0, 1, 1, DELIVERY_TIMEOUT_MS, metrics, GROUP, time,
            null, new BufferPool(1 << 20, BATCH_SIZE, metrics, time, GROUP));
    // One request in flight a connection: the setting with the strictest order.
    private final Sender sender = new Sender(
            log, client.asClient(), metadata, accumulator, true, 1 << 20, ALL, Integer.MAX_VALUE,
            new SenderMetricsRegistry(metrics), time, REQUEST_TIMEOUT_MS, 1, null);

    private ConfirmCallbackOrder() {
        metadata.add(TOPIC, 0);
        metadata.updateWithCurrentRequestVersion(cluster(), false, 0);
    }

    /** One batch is in flight and one is queued behind it when the delivery time-out passes. */
    static Observation queuedFirst() throws Exception {
        ConfirmCallbackOrder setting = new ConfirmCallbackOrder();
        setting.append(0);
        setting.append(1);
        setting.sender.runOnce();
        int requests = setting.client.requests();
        setting.time.setTime(DELIVERY_TIMEOUT_MS);
        setting.sender.runOnce();
        return new Observation(
                requests == 1 && setting.order.equals(List.of(1, 0)),
                "batch 0 was in flight (" + requests + " request), batch 1 of the same partition "
                        + "queued; Sender ran the callbacks of " + setting.order);
    }

    /** All batches are queued. */
    static Observation unorderedAbort() throws Exception {
        ConfirmCallbackOrder setting = new ConfirmCallbackOrder();
        setting.appendMany();
        setting.accumulator.abortIncompleteBatches();
        return setting.unordered("abortIncompleteBatches");
    }

    /** One batch is in flight, the others are queued. */
    static Observation unorderedForcedClose() throws Exception {
        ConfirmCallbackOrder setting = new ConfirmCallbackOrder();
        setting.appendMany();
        setting.sender.runOnce();
        setting.sender.forceClose();
        setting.sender.run();
        return setting.unordered("Sender.forceClose, then Sender.run,");
    }

    private Observation unordered(String how) {
        List<Integer> appended = IntStream.range(0, MANY).boxed().toList();
        return new Observation(
                order.size() == MANY && !order.equals(appended),
                how + " ran the callbacks of " + MANY + " batches of one partition in this order: "
                        + order);
    }

    private void appendMany() throws Exception {
        for (int number = 0; number < MANY; number++) {
            append(number);
        }
    }

    /** Each record fills a batch. */
    private void append(int number) throws InterruptedException {
        accumulator.append(
                TOPIC, 0, time.milliseconds(), null, new byte[BATCH_SIZE], null,
                new RecordAccumulator.AppendCallbacks() {
                    @Override
                    public void setPartition(int partition) {}

                    @Override
                    public void onCompletion(RecordMetadata record, Exception error) {
                        order.add(number);
                    }
                },
                0, time.milliseconds(), metadata.fetch());
    }

    private static MetadataResponse cluster() {
        MetadataResponsePartition partition = new MetadataResponsePartition()
                .setPartitionIndex(0).setLeaderId(0).setLeaderEpoch(0)
                .setReplicaNodes(List.of(0)).setIsrNodes(List.of(0));
        MetadataResponseTopic topic = new MetadataResponseTopic()
                .setName(TOPIC).setTopicId(Uuid.ONE_UUID).setPartitions(List.of(partition));
        return MetadataResponse.prepareResponse(
                ApiKeys.METADATA.latestVersion(), 0, List.of(new Node(0, "localhost", 1)),
                "cluster", 0, List.of(topic), MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED);
    }
}
