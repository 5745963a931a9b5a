"""The judge of a pool's recorded history.

`judge` passes each event to the file whose question it is:

- `loans`: which buffers are lent, is each given back once, and do the sums fit the total?
- `queue`: which calls wait, and did a call overtake one that had waited longer?

`search` looks for a linearization of a small history, by the model. `stretches` does so for small
stretches of a long one.
"""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.clock import MonotonicClock, clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    LONGEST_WAITING_FIRST,
    PoolClause,
    PoolConfig,
)
from wheelproof_spec.components.buffer_pool.history.judge import PoolHistoryJudge
from wheelproof_spec.components.buffer_pool.history.search import search
from wheelproof_spec.components.buffer_pool.history.stretches import StretchJudge


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    assert isinstance(header.config, PoolConfig)
    clock = clock_of(header, KAFKA)
    real = clock if isinstance(clock, MonotonicClock) else None
    in_turn = profile == LONGEST_WAITING_FIRST
    judge = PoolHistoryJudge(header.config, real, tally, in_turn=in_turn)
    return judge if tally.skipped else StretchJudge(judge, header, profile)


RECORDED = RecordedComponent(
    definition=any_definition(DEFINITION),
    judge=_judge,
    balances=(
        Balance(
            clause=PoolClause.TAKES_BACK_ONLY_LOANS,
            what="returns",
            room="loans",
            makes_room=Counted(operation="allocate", field="buffer", at="ok", of="answer"),
            uses=(Counted(operation="deallocate", field="buffer", at="ok"),),
        ),
    ),
    search=search,
)
