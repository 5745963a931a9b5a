"""The judge of a purgatory's recorded history."""

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
