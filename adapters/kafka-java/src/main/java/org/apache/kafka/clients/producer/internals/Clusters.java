package org.apache.kafka.clients.producer.internals;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse.PartitionMetadata;

/** What the accumulator is told of the cluster: the partitions of one topic, and their leaders. */
final class Clusters {
    static final String TOPIC = "topic";

    private Clusters() {}

    static Node node(int id) {
        return new Node(id, "localhost", id);
    }

    /** Returns a cluster in which each of these partitions is led by its node. */
    static MetadataSnapshot cluster(Map<Integer, Integer> leaders) {
        var nodes = leaders.values().stream().distinct()
                .collect(Collectors.toMap(id -> id, Clusters::node));
        var partitions = leaders.entrySet().stream()
                .map(entry -> partition(entry.getKey(), entry.getValue()))
                .toList();
        return new MetadataSnapshot(
                "driven", nodes, partitions, Set.of(), Set.of(), Set.of(), null, Map.of());
    }

    private static PartitionMetadata partition(int number, int leader) {
        return new PartitionMetadata(
                Errors.NONE, new TopicPartition(TOPIC, number), Optional.of(leader),
                Optional.empty(), List.of(), List.of(), List.of());
    }
}
