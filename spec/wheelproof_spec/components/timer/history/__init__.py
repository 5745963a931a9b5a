"""The judge of a timer's recorded history.

`judge` passes each event to the file whose question it is:

- `tasks`, with `task` and `states`: may this task run, or a cancel answer so? `task` knows a task
  whose calls do not overlap, `states` the possible states of one whose calls do.
- `advancing`: did each advance submit the tasks that were due?
- `closing`: what does a close change?
- `lateness`: how late may a task run by a real clock?
- `order`: do tasks run in the order of their due times?
- `size`: which answers of `size` are possible?

`violations` has their messages. `search` looks for a linearization of a small history, by the
model.
"""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import contract_of
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import Balance, Counted, HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.timer.component import DEFINITION, TimerClause, TimerConfig
from wheelproof_spec.components.timer.history.judge import TimerHistoryJudge
from wheelproof_spec.components.timer.history.search import search


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    config = header.config
    assert isinstance(config, TimerConfig)
    clock = clock_of(header, contract_of(profile), config.tick_ms, config.start_ms)
    return TimerHistoryJudge(config, clock, tally)


RECORDED = RecordedComponent(
    definition=any_definition(DEFINITION),
    judge=_judge,
    balances=(
        Balance(
            clause=TimerClause.RUNS_AT_MOST_ONCE,
            what="runs and successful cancels",
            room="adds",
            makes_room=Counted(operation="add", field="task"),
            uses=(
                Counted(operation="run", field="task"),
                Counted(operation="cancel", field="task", at="ok", if_true="cancelled"),
            ),
        ),
    ),
    search=search,
)
