"""What several threads do to a purgatory at once: the programs of the steps `together` and `race`.

A program names operations by their places, since their names are known only when it runs.

>>> Trigger(back=0) == Trigger(back=0) != Force(back=0)
True
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    CheckAndComplete,
)
from wheelproof_spec.testing.machine import AdvanceBy

KEYS = "xy"
"""The keys, each of one letter."""
LONGEST_MS = 30
"""The longest time-out and the longest jump of the clock, in milliseconds."""
MS = st.integers(0, 4) | st.integers(0, LONGEST_MS)
"""Time-outs and jumps in milliseconds; short ones are frequent, so that many operations expire."""
SOME_KEYS = st.sampled_from(("x", "xy", "y", "yx"))
HOLDS = st.sampled_from((False, False, False, True))
"""Whether an operation can end when it is handed in: mostly not, or nothing would wait."""
_BACK = st.just(0) | st.integers(0, 3)
"""Which operation, counted back from the newest: mostly that one, so that threads meet there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandIn:
    """In `together`: a thread hands in a new operation; `holds` says that it can end at once."""

    delay_ms: int
    keys: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """In `together`: a thread makes a predicate true and tries the first key of the operation.

    `back` counts the waiting operations back from the newest, with those that threads hand in.
    """

    back: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """In `together`: a thread forces an operation that waited before; see `Trigger` for `back`."""

    back: int


ProgramCall = HandIn | Trigger | Force | CheckAndComplete | CancelForKey | AskGauges | AdvanceBy
Program = tuple[ProgramCall, ...]
"""What one thread does in `together`."""


def programs(*, advances: bool = False) -> st.SearchStrategy[Program]:
    """Draw what a thread does; only one of them may draw `advances` of the clock."""
    hand_ins = st.builds(HandIn, delay_ms=MS, keys=SOME_KEYS, holds=HOLDS)
    triggers = st.builds(Trigger, back=_BACK)
    keys = st.just(KEYS[0]) | st.sampled_from(KEYS)
    others = st.one_of(
        st.builds(Force, back=_BACK),
        st.builds(CheckAndComplete, key=keys),
        st.builds(CancelForKey, key=keys),
        st.just(AskGauges()),
    )
    call: st.SearchStrategy[ProgramCall] = hand_ins | triggers | others
    if advances:
        call |= st.builds(AdvanceBy, by_ms=MS)
    return st.tuples(call) | st.tuples(call, call)


_ENDING: tuple[ProgramCall, ...] = (
    Trigger(back=0),
    Force(back=0),
    CancelForKey(key=KEYS[0]),
)
ENDING_CALLS = st.sampled_from(_ENDING)
"""What ends the newest operation, which waits under the first key."""
FIRST_CALLS: st.SearchStrategy[ProgramCall] = st.sampled_from(
    (
        *_ENDING,
        AdvanceBy(by_ms=LONGEST_MS),
        HandIn(delay_ms=0, keys=KEYS[0], holds=False),
        HandIn(delay_ms=LONGEST_MS, keys=KEYS[0], holds=False),
    )
)
"""What the first thread of a race does: it may be the one that expires it, or that hands it in."""
