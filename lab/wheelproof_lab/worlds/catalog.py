"""The programs that belong to no component."""

from functools import partial

from wheelproof_explore.program import Program
from wheelproof_lab.worlds.classics import CLASSICS, lost_update, philosophers
from wheelproof_lab.worlds.for_ever import FOR_EVER, FOR_EVER_BUGS
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.state_queue import (
    MENDED_STATE_QUEUE,
    STATE_QUEUE_OF_TLC,
)
from wheelproof_lab.worlds.waiting import WAITING, event

PASSING: tuple[Program, ...] = (*CLASSICS, *WAITING, MENDED_STATE_QUEUE)

FAILING: tuple[Program, ...] = (
    program("lost-update", lost_update),
    program("philosophers-left-first", partial(philosophers, 4, ordered=False)),
    program("event-tested-early", partial(event, mended=False)),
    STATE_QUEUE_OF_TLC,
)

__all__ = ["FAILING", "FOR_EVER", "FOR_EVER_BUGS", "PASSING"]
