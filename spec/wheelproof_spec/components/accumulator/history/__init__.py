"""The judge of an accumulator's recorded history.

`judge` passes each event to the file whose question it is:

- `appends`: did each append end for a reason?
- `callbacks`: are records called back once, in time, with the right outcome and in order?
- `checks`: which answers of `ready` are possible?
- `flushes`: did each flush wait for its records, and end?
- `holdings`: how much memory do records hold, and which records are incomplete?
- `queues`: did each drain take the heads of the queues? `retries`: what of batches sent again?
- `turns`: did each partition of a node get its turn?

`record` has what they know about one record and one batch. `search` looks for a linearization of a
small history.
"""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    WHEELPROOF,
    AccumulatorClause,
    AccumulatorConfig,
)
from wheelproof_spec.components.accumulator.history.judge import AccumulatorHistoryJudge
from wheelproof_spec.components.accumulator.history.search import search


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    assert isinstance(header.config, AccumulatorConfig)
    clock = clock_of(header, KAFKA, start_ms=header.config.start_ms)
    return AccumulatorHistoryJudge(header.config, clock, tally, ends_in_order=profile == WHEELPROOF)


RECORDED = RecordedComponent(
    definition=any_definition(DEFINITION),
    judge=_judge,
    balances=(
        Balance(
            clause=AccumulatorClause.COMPLETES_ONCE,
            what="callbacks",
            room="appends",
            makes_room=Counted(operation="append", field="record"),
            uses=(Counted(operation="callback", field="record"),),
        ),
    ),
    search=search,
)
