"""The judge of a purgatory's recorded history.

`judge` passes each event to the file whose question it is:

- `answers`: does a call answer whether, or how many operations, it completed?
- `callbacks`: do the callbacks of one operation exclude each other, where that is claimed?
- `endings`: had each completion a reason, and did each operation expire in time?
- `gauges`: which answers of `watched`, `num_delayed` and `num_keys` are possible?
- `refusals`: was only refused what has to be, as after a shutdown?
- `tries`: in which order does a trigger try the operations of its key, and how often?
- `triggers`: was each operation completed that was triggered, and what does a cancel return?

`operation` has what they know about one operation. `search` looks for a linearization of a small
history, by the model.
"""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    WHEELPROOF,
    PurgatoryClause,
    PurgatoryConfig,
)
from wheelproof_spec.components.purgatory.history.judge import PurgatoryHistoryJudge
from wheelproof_spec.components.purgatory.history.search import search


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    config = header.config
    assert isinstance(config, PurgatoryConfig)
    clock = clock_of(header, KAFKA, config.tick_ms, config.start_ms)
    # In all else in which the profiles differ, the configuration states what is claimed.
    return PurgatoryHistoryJudge(config, clock, tally, kafka=profile != WHEELPROOF)


RECORDED = RecordedComponent(
    definition=any_definition(DEFINITION),
    judge=_judge,
    balances=(
        Balance(
            clause=PurgatoryClause.COMPLETES_AT_MOST_ONCE,
            what="completions",
            room="operations",
            makes_room=Counted(operation="try_complete_else_watch", field="operation"),
            uses=(Counted(operation="on_complete", field="operation"),),
        ),
        Balance(
            clause=PurgatoryClause.ANSWERS_TRULY,
            what="answers of who completed it, and expiries",
            room="operations",
            makes_room=Counted(operation="try_complete_else_watch", field="operation"),
            uses=(
                *(
                    Counted(operation=call, field="operation", at="ok", if_true="completed")
                    for call in ("try_complete_else_watch", "force_complete")
                ),
                Counted(operation="on_expiration", field="operation"),
            ),
        ),
    ),
    search=search,
)
