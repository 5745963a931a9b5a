"""The comparisons of the replica manager, the small ones first."""

from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_lab.graph.replication.produce_fetch import Brokers, produce_fetch
from wheelproof_lab.graph.replication.view import (
    label_of_produce_fetch,
    project_produce_fetch,
)

PRODUCE_FETCH = Compared(
    module="ProduceFetch",
    code=produce_fetch,
    label=label_of_produce_fetch,
    project=project_produce_fetch,
)

COMPARISONS = (
    PRODUCE_FETCH.model(
        Brokers(),
        name="replication-produce",
        summary="a produce and a follower's fetches complete each other",
    ),
    PRODUCE_FETCH.model(
        Brokers(watchdogs=("isr",)),
        name="replication-slow",
        summary="the follower falls behind, leaves the in-sync set, and comes back",
    ),
    PRODUCE_FETCH.model(
        Brokers(partitions=("q1", "q2")),
        name="replication-two-partitions",
        summary="a produce to two partitions waits for both",
    ),
    PRODUCE_FETCH.model(
        Brokers(consumers=("c1",)),
        name="replication-consumer",
        summary="a produce, a follower and a consumer complete each other",
    ),
)
