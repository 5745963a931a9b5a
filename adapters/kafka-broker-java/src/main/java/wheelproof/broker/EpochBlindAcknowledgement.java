package wheelproof.broker;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.server.purgatory.DelayedProduce;
import org.apache.kafka.server.purgatory.TopicPartitionOperationKey;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Confirmation.Scenario;

/** A request's thread stalls between its append and its watch, for two elections. */
final class EpochBlindAcknowledgement implements Scenario {
    private static final int TIMEOUT_MS = 30_000;
    private static final TopicIdPartition TOPIC_ID_PARTITION =
            new TopicIdPartition(LonelyBroker.TOPIC, LonelyBroker.PARTITION);

    @Override
    public Observation observe() throws Exception {
        LonelyBroker broker = new LonelyBroker();
        broker.lead(0);
        long required = broker.append("first");
        broker.followAndTruncate(1);
        broker.lead(2);
        broker.append("second");
        broker.replicated(required);
        Map<TopicIdPartition, PartitionResponse> answer = watch(broker, required);
        Errors error = answer == null ? null : answer.get(TOPIC_ID_PARTITION).error;
        List<String> content = broker.content();
        boolean lost = error == Errors.NONE && !content.contains("first");
        String observed = "the append of \"first\" was answered " + error + ", the log has " + content;
        return new Observation(lost, observed);
    }

    /** Goes on as the broker does after an append: returns what the producer is answered. */
    private static Map<TopicIdPartition, PartitionResponse> watch(
            LonelyBroker broker, long required) {
        AtomicReference<Map<TopicIdPartition, PartitionResponse>> answer = new AtomicReference<>();
        PartitionResponse response = new PartitionResponse(Errors.NONE, required - 1, -1, 0);
        DelayedProduce operation = new DelayedProduce(
                TIMEOUT_MS,
                Map.of(
                        TOPIC_ID_PARTITION,
                        new DelayedProduce.ProducePartitionStatus(required, response)),
                (partition, offset) -> {
                    var reached = broker.partition.checkEnoughReplicasReachOffset(offset);
                    return new DelayedProduce.PartitionStatusValidator.Result(
                            (Boolean) reached._1(), reached._2());
                },
                answer::set);
        broker.produce.tryCompleteElseWatch(
                operation, List.of(new TopicPartitionOperationKey(LonelyBroker.PARTITION)));
        return answer.get();
    }
}
