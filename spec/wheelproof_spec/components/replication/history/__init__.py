"""The judge of a broker's recorded history.

`judge` passes each event to the file whose question it is:

- `produces` and `fetches`: is the answer to a request right?
- `waiting`: was each request answered that could be?
- `gauges`: how many requests wait, and under how many keys?
- `readings`: does an answer fit the log that it has read?

What they know: `broker` has its partitions, requests and records; `partition` the log and leader of
one partition, `places` where its batches stand, `reign` one time as its leader; `requests` each
request. `search` looks for a linearization of a small history, by the model.
"""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA as TIMER_KAFKA
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    KAFKA,
    ReplicationClause,
    ReplicationConfig,
)
from wheelproof_spec.components.replication.history.judge import ReplicationHistoryJudge
from wheelproof_spec.components.replication.history.search import search


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    assert isinstance(header.config, ReplicationConfig)
    clock = clock_of(header, TIMER_KAFKA)
    return ReplicationHistoryJudge(header.config, clock, tally, as_kafka=profile == KAFKA)


RECORDED = RecordedComponent(
    definition=any_definition(DEFINITION),
    judge=_judge,
    balances=tuple(
        Balance(
            clause=ReplicationClause.ANSWERED_AT_MOST_ONCE,
            what="answers",
            room="requests",
            makes_room=Counted(operation=request, field="request"),
            uses=(Counted(operation=response, field="request"),),
        )
        for request, response in (
            ("append_records", "produce_response"),
            ("fetch_messages", "fetch_response"),
        )
    ),
    search=search,
)
