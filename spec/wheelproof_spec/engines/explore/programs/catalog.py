"""The programs that belong to no component."""

from functools import partial

from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.classics import CLASSICS, lost_update, philosophers
from wheelproof_spec.engines.explore.programs.for_ever import FOR_EVER, FOR_EVER_BUGS
from wheelproof_spec.engines.explore.programs.making import program
from wheelproof_spec.engines.explore.programs.state_queue import (
    MENDED_STATE_QUEUE,
    STATE_QUEUE_OF_TLC,
)
from wheelproof_spec.engines.explore.programs.waiting import WAITING, event

PASSING: tuple[Program, ...] = (*CLASSICS, *WAITING, MENDED_STATE_QUEUE)

FAILING: tuple[Program, ...] = (
    program("lost-update", lost_update),
    program("philosophers-left-first", partial(philosophers, 4, ordered=False)),
    program("event-tested-early", partial(event, mended=False)),
    STATE_QUEUE_OF_TLC,
)

__all__ = ["FAILING", "FOR_EVER", "FOR_EVER_BUGS", "PASSING"]
