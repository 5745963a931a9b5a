package org.apache.kafka.clients.producer.internals;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse.PartitionMetadata;

/** What the accumulator is told of the cluster: partitions, and their leaders. */
final class Clusters {
    static final String TOPIC = "topic";

    private Clusters() {}

    static Node node(int id) {
        return new Node(id, "localhost", id);
    }

    /** Returns a cluster in which each of these partitions of one topic is led by its node. */
    static MetadataSnapshot cluster(Map<Integer, Integer> leaders) {
        return cluster(leaders, partition -> TOPIC);
    }

    /** Returns a cluster in which each of these partitions is led by its node. */
    static MetadataSnapshot cluster(Map<Integer, Integer> leaders, IntFunction<String> topicOf) {
        var nodes = leaders.values().stream().distinct()
                .collect(Collectors.toMap(id -> id, Clusters::node));
        var partitions = leaders.entrySet().stream()
                .map(entry -> new PartitionMetadata(
                        Errors.NONE,
                        new TopicPartition(topicOf.apply(entry.getKey()), entry.getKey()),
                        Optional.of(entry.getValue()), Optional.empty(), List.of(), List.of(),
                        List.of()))
                .toList();
        return new MetadataSnapshot(
                "driven", nodes, partitions, Set.of(), Set.of(), Set.of(), null, Map.of());
    }
}
