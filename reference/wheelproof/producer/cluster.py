"""What the sender knows of the cluster: which node leads which partition.

The sender works node by node, and records come partition by partition.

>>> from wheelproof.producer.cluster import Cluster
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> cluster = Cluster(leaders={payments: 3})
>>> cluster.leader_for(payments), cluster.partitions_for_node(3) == (payments,)
(3, True)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from wheelproof.errors import IllegalArgumentError
from wheelproof.topic_partition import TopicPartition

NodeId = NewType("NodeId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The leader of each partition, None where there is none at the moment.

    Partitions that are missing have no leader either. `nodes` may have some that lead nothing.
    """

    leaders: Mapping[TopicPartition, NodeId | None]
    nodes: frozenset[NodeId] = frozenset()
    _partitions: Mapping[NodeId, tuple[TopicPartition, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        led: dict[NodeId, list[TopicPartition]] = {node: [] for node in sorted(self.nodes)}
        for partition, leader in self.leaders.items():
            if leader is not None:
                led.setdefault(leader, []).append(partition)
        by_node = {node: tuple(sorted(partitions)) for node, partitions in led.items()}
        object.__setattr__(self, "_partitions", by_node)

    def leader_for(self, partition: TopicPartition) -> NodeId | None:
        """Return the node that leads `partition`, None if it is not known."""
        return self.leaders.get(partition)

    def partitions_for_node(self, node: NodeId) -> tuple[TopicPartition, ...]:
        """Return the partitions that `node` leads, in a fixed order.

        Raises IllegalArgumentError for a node that is not in the cluster.
        """
        partitions = self._partitions.get(node)
        if partitions is None:
            known = sorted(self._partitions)
            raise IllegalArgumentError(f"no node {node} in the cluster, whose nodes are {known}")
        return partitions
