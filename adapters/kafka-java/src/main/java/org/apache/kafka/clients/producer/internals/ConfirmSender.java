package org.apache.kafka.clients.producer.internals;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.common.utils.internals.ProducerIdAndEpoch;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Internals;
import wheelproof.kafka.VirtualTime;

/** The callbacks of one partition, run by Kafka's Sender: in which order, and when. */
final class ConfirmSender {
    private static final String TOPIC = "topic";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final String GROUP = "confirm";
    private static final int BATCH_SIZE = 256;
    private static final int REQUEST_TIMEOUT_MS = 1_000;
    private static final int DELIVERY_TIMEOUT_MS = 1_000;
    private static final int YOUNGER_MS = DELIVERY_TIMEOUT_MS / 2;
    private static final long EXPIRE_MS = 300_000;
    private static final int MANY = 20;
    private static final int LARGE = 150;
    private static final int TINY = 1;
    private static final short ALL = -1;

    private final VirtualTime time = new VirtualTime(0);
    private final Metrics metrics = new Metrics();
    private final LogContext log = new LogContext();
    private final List<Integer> order = new ArrayList<>();
    private final SilentClient client = new SilentClient();
    private final ProducerMetadata metadata = new ProducerMetadata(
            1, 1, EXPIRE_MS, EXPIRE_MS, log, new ClusterResourceListeners());
    private final RecordAccumulator accumulator;
    private int fatal = -1;
    private final Sender sender;

    /**
     * Either one request in flight a connection, the setting with the strictest order, or many.
     *
     * <p>With a transaction manager the producer is idempotent, as it is by default.
     */
    private ConfirmSender(boolean oneInFlight, TransactionManager idempotent) {
        accumulator = new RecordAccumulator(
                log, BATCH_SIZE, Compression.NONE, 0, 1, 1, DELIVERY_TIMEOUT_MS, metrics, GROUP,
                time, idempotent, new BufferPool(1 << 20, BATCH_SIZE, metrics, time, GROUP));
        sender = new Sender(
                log, client.asClient(), metadata, accumulator, oneInFlight, 1 << 20, ALL,
                Integer.MAX_VALUE, new SenderMetricsRegistry(metrics), time, REQUEST_TIMEOUT_MS, 1,
                idempotent);
        metadata.add(TOPIC, 0);
        metadata.updateWithCurrentRequestVersion(cluster(), false, 0);
    }

    /** One batch is in flight and one is queued behind it when the delivery time-out passes. */
    static Observation queuedFirst() throws Exception {
        ConfirmSender setting = new ConfirmSender(true, null);
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
        ConfirmSender setting = new ConfirmSender(true, null);
        setting.appendMany();
        setting.accumulator.abortIncompleteBatches();
        return setting.unordered("abortIncompleteBatches");
    }

    /** One batch is in flight, the others are queued. */
    static Observation unorderedForcedClose() throws Exception {
        ConfirmSender setting = new ConfirmSender(true, null);
        setting.appendMany();
        setting.sender.runOnce();
        setting.sender.forceClose();
        setting.sender.run();
        return setting.unordered("Sender.forceClose, then Sender.run,");
    }

    /** Two batches are in flight when the connection is lost, and the broker does not come back. */
    static Observation lateInTheQueue() throws Exception {
        ConfirmSender setting = twoInFlight(null);
        setting.client.disconnect();
        return setting.late("after the connection was lost");
    }

    /**
     * Two batches are in flight; the first is refused for now, sent again, and not answered.
     *
     * <p>The producer is idempotent: batches that are sent again go to their place in the queue.
     */
    static Observation lateInFlight() throws Exception {
        TransactionManager idempotent = new TransactionManager(
                new LogContext(), null, REQUEST_TIMEOUT_MS, 1, new ApiVersions(), null, false);
        Internals.set(
                TransactionManager.class, idempotent, "producerIdAndEpoch",
                new ProducerIdAndEpoch(1, (short) 0));
        ConfirmSender setting = twoInFlight(idempotent);
        setting.client.refuseFirst(TOPIC, Errors.NOT_ENOUGH_REPLICAS);
        setting.time.setTime(YOUNGER_MS + 2);
        setting.sender.runOnce();
        int requests = setting.client.requests();
        return setting.late("after the first was refused and sent again (" + requests + " requests)");
    }

    /** The callback of the first of three records of one batch ends in an Error. */
    static Observation callbackThrowsAnError() throws Exception {
        ConfirmSender setting = new ConfirmSender(true, null);
        setting.fatal = 0;
        for (int number = 0; number < 3; number++) {
            setting.append(number, TINY);
        }
        setting.sender.runOnce();
        String left = "nothing";
        try {
            setting.client.refuseFirst(TOPIC, Errors.INVALID_RECORD);
        } catch (StackOverflowError error) {
            left = "the Error";
        }
        setting.time.setTime(DELIVERY_TIMEOUT_MS);
        String later = "nothing";
        try {
            setting.sender.runOnce();
        } catch (IllegalStateException error) {
            later = error.getMessage();
        }
        return new Observation(
                setting.order.equals(List.of(0)) && setting.accumulator.hasIncomplete(),
                "the broker refused a batch of 3 records; " + left + " left the sender's call; "
                        + "when the delivery time-out was over, the next call raised " + later
                        + ", and the callbacks of " + setting.order + " had run; the batch counts "
                        + "as incomplete: " + setting.accumulator.hasIncomplete());
    }

    /** A large record and a tiny one, each of which the broker takes, and not the two together. */
    static Observation splitIntoItself() throws Exception {
        ConfirmSender setting = new ConfirmSender(true, null);
        setting.append(0, LARGE);
        setting.append(1, TINY);
        List<Integer> records = new ArrayList<>();
        for (int request = 0; request < MANY; request++) {
            setting.time.setTime(2 * request);
            setting.sender.runOnce();
            setting.client.refuseFirst(TOPIC, Errors.MESSAGE_TOO_LARGE);
            records.add(setting.accumulator.getDeque(PARTITION).peekFirst().recordCount);
        }
        return new Observation(
                setting.order.isEmpty() && records.stream().allMatch(count -> count == 2),
                "the broker refused a batch of " + LARGE + " and " + TINY + " bytes " + MANY
                        + " times as too large; after each split the first batch had this many "
                        + "records: " + records);
    }

    /** The second batch is half of the delivery time-out younger than the first one. */
    private static ConfirmSender twoInFlight(TransactionManager idempotent) throws Exception {
        ConfirmSender setting = new ConfirmSender(false, idempotent);
        setting.append(0);
        setting.sender.runOnce();
        setting.time.setTime(YOUNGER_MS);
        setting.append(1);
        setting.sender.runOnce();
        if (setting.client.requests() != 2) {
            throw new IllegalStateException(setting.client.requests() + " requests were sent");
        }
        return setting;
    }

    private Observation late(String when) {
        time.setTime(DELIVERY_TIMEOUT_MS);
        sender.runOnce();
        List<Integer> inTime = List.copyOf(order);
        time.setTime(DELIVERY_TIMEOUT_MS + YOUNGER_MS - 1);
        sender.runOnce();
        List<Integer> later = List.copyOf(order);
        time.setTime(DELIVERY_TIMEOUT_MS + YOUNGER_MS);
        sender.runOnce();
        return new Observation(
                later.isEmpty() && order.size() == 2,
                when + ", with delivery.timeout.ms=" + DELIVERY_TIMEOUT_MS + ", Sender had run the "
                        + "callbacks of " + inTime + " at " + DELIVERY_TIMEOUT_MS + " ms, of "
                        + later + " at " + (DELIVERY_TIMEOUT_MS + YOUNGER_MS - 1) + " ms and of "
                        + order + " a millisecond later; 0 was appended at 0 ms, 1 at "
                        + YOUNGER_MS + " ms");
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
        append(number, BATCH_SIZE);
    }

    private void append(int number, int size) throws InterruptedException {
        accumulator.append(
                TOPIC, 0, time.milliseconds(), null, new byte[size], null,
                new RecordAccumulator.AppendCallbacks() {
                    @Override
                    public void setPartition(int partition) {}

                    @Override
                    public void onCompletion(RecordMetadata record, Exception error) {
                        order.add(number);
                        if (number == fatal) {
                            throw new StackOverflowError("the callback of a record");
                        }
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
