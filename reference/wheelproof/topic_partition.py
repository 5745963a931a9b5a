"""The name of a partition.

Requests, logs, queues and watch keys all speak of a partition; as one type they cannot mix it up.

>>> from wheelproof.topic_partition import TopicPartition
>>> str(TopicPartition("payments", 0))
'payments-0'
>>> TopicPartition("payments", 0) == TopicPartition("payments", 0)
True
"""

from dataclasses import dataclass

from wheelproof.domain import require_integer


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of a topic.

    Raises IllegalArgumentError if `partition` is negative or no integer.
    """

    topic: str
    partition: int

    def __post_init__(self) -> None:
        require_integer("partition", self.partition, 0)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
