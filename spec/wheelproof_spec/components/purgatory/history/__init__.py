"""The judge of a purgatory's recorded history."""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    PurgatoryClause,
    PurgatoryConfig,
)
from wheelproof_spec.components.purgatory.history.judge import PurgatoryHistoryJudge
from wheelproof_spec.components.purgatory.history.search import search


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    # The configuration states the claims in which the profiles differ.
    del profile
    config = header.config
    assert isinstance(config, PurgatoryConfig)
    clock = clock_of(header, KAFKA, config.tick_ms, config.start_ms)
    return PurgatoryHistoryJudge(config, clock, tally)


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
    ),
    search=search,
)
