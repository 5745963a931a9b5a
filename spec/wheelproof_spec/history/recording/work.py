"""The work of a load: which caller makes which call, the same for every implementation.

A component draws its work from the seed and the number of the history alone. The reference does it
in this process (`wheelproof record`), any other program reads it line by line (`wheelproof load`).
So the recordings of two implementations differ in what these did, and not in what was asked.

Callers that only draw at random seldom meet at one task. So work comes in rounds: in front of each,
all callers wait for one another (`Meet`), and within it they are at the same few tasks at once.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol, Self

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain_fields
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

PAUSES_ONCE_IN = 8
"""A caller pauses after one call in so many."""
LONGEST_PAUSE_US = 2_000
"""The end of the range of its pauses, in microseconds."""
_SCATTERED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """One caller makes a call; `lasts_us` is how long each callback of what it hands in takes."""

    caller: int
    call: Call
    lasts_us: int = 0
    needs: str | None = None
    """What the program has to be able to do; if None, the call itself."""

    @property
    def capability(self) -> str:
        """What a program names if it can make this call."""
        return self.needs or self.call.name_on_the_wire()

    def line(self) -> Mapping[str, object]:
        """Return the line that a program reads."""
        lasts = {"lasts_us": self.lasts_us} if self.lasts_us else {}
        args = plain_fields(self.call, Wire.RECORDED)
        return {"caller": self.caller, "op": self.call.name_on_the_wire(), "args": args, **lasts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One caller waits for so many microseconds."""

    caller: int
    us: int

    def line(self) -> Mapping[str, object]:
        """Return the line that a program reads."""
        return {"caller": self.caller, "op": "pause", "args": {"us": self.us}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meet:
    """Every caller waits until all have come."""

    def line(self) -> Mapping[str, object]:
        """Return the line that a program reads."""
        return {"op": "meet"}


Step = Make | Pause | Meet


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The configuration of a component, and what its callers do, in the order of each of them."""

    config: Config
    steps: tuple[Step, ...]
    serving: tuple[Make | Pause, ...] = ()
    """What one more thread does over and over, beside the callers and until nothing waits for it.

    Its number as a caller is the one after theirs. It takes part in no meeting.
    """

    def with_lateness(self, lateness_ms: int | None) -> Self:
        """Return this with another claim of lateness, or with its own if that is None."""
        if lateness_ms is None:
            return self
        return replace(self, config=self.config.with_lateness(lateness_ms))

    def of(self, caller: int) -> list[Step]:
        """Return the steps of one caller."""
        return [step for step in self.steps if isinstance(step, Meet) or step.caller == caller]


def do_work(work: Work, callers: Callers, perform: Callable[[Make], None]) -> None:
    """Do the work in a thread for each caller; raises LoadFailedError with the first failure."""
    all_come = threading.Barrier(callers.threads)

    def act(caller: int, has_failed: Callable[[], bool]) -> None:
        try:
            for step in work.of(caller):
                match step:
                    case Meet():
                        all_come.wait()
                    case Pause(us=us):
                        time.sleep(us / 1e6)
                    case Make():
                        perform(step)
        except threading.BrokenBarrierError:
            assert has_failed()
        except BaseException:
            # The callers that wait for this one need not wait any more.
            all_come.abort()
            raise

    callers.each(act)


class DrawWork(Protocol):
    """Draws the work of a history."""

    def __call__(self, callers: Callers) -> Work:
        """Return the work; equal callers have equal work."""
        ...


def rounds(
    callers: Callers, dice: Random, one_round: Callable[[Random], list[Step]]
) -> Iterator[Step]:
    """Yield rounds until so many calls are made as `callers` asks for, each behind a `Meet`."""
    left = callers.operations
    while left:
        yield Meet()
        for step in one_round(dice):
            if isinstance(step, Make):
                if not left:
                    return
                left -= 1
            yield step


def scattered(
    dice: Random,
    callers: int,
    anything: Callable[[int], Sequence[Step]],
    turns: int = _SCATTERED,
) -> list[Step]:
    """Return a round without a plan: in each turn a caller does `anything`, and may pause then."""
    steps: list[Step] = []
    for _ in range(turns):
        for caller in range(callers):
            steps += anything(caller)
            if dice.randrange(PAUSES_ONCE_IN) == 0:
                steps.append(Pause(caller=caller, us=dice.randrange(LONGEST_PAUSE_US)))
    return steps


LATENESS_MS = 1_000
"""How late a due event may be on a busy machine, in milliseconds."""
RECENT = 64
"""How many tasks or operations all callers together remember."""

_POLL_S = 0.005
_MOST_S = 60


class Load(Protocol):
    """The work for one kind of component; each history has a new load."""

    @property
    def config(self) -> Config:
        """The configuration in the header of the history."""
        ...

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the component until it is quiescent and no thread runs any more."""
        ...


MakeLoad = Callable[[Callers], Load]
"""Makes the load of a history."""


def wait_until_quiet(condition: Callable[[], bool]) -> None:
    """Poll until `condition` holds; raises LoadFailedError if it does not within a time limit."""
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise LoadFailedError(f"what was loaded has not come to rest within {_MOST_S} s")
        time.sleep(_POLL_S)
