"""Cycles of a run: one thread goes on alone and comes back to the same state.

Going round once more leads nowhere new. Whether it is a failure depends on who could end it: a
cycle that another thread or the clock can end is none by itself.
"""

from dataclasses import dataclass

from wheelproof_spec.engines.explore.runs.local_state import LocalState, local_state
from wheelproof_spec.engines.explore.runtime.accesses import Accesses
from wheelproof_spec.engines.explore.runtime.model import AtomicOperation
from wheelproof_spec.engines.explore.runtime.numbers import TIME, Actor
from wheelproof_spec.engines.explore.runtime.runtime import ControlledRuntime
from wheelproof_spec.engines.explore.runtime.timing import ReadClock

_FIRST_LOOK = 48
"""After how many steps of one thread alone it is asked whether they repeat themselves."""
_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """A thread that goes round.

    `actors` are the thread, and time if that keeps it company. The first round is the steps from
    `begin` to `end`, in words `steps`; until `tried` all others have had a chance. It is `endless`
    if nobody else can make a step anywhere in it, and the thread asks for no time and chooses
    nothing.
    """

    thread: str
    actors: frozenset[Actor]
    begin: int
    end: int
    tried: int
    endless: bool
    steps: tuple[str, ...]

    def __str__(self) -> str:
        more = ", ..." if len(self.steps) > _SHOWN else ""
        return f"repeats {', '.join(self.steps[:_SHOWN])}{more}"


class CycleWatch:
    """Watches one run; `cycle` is the one that the run is in, if it is in one.

    `rounds` led nowhere before others went on: the first step, and the one after the last. Time may
    keep the thread company. Cycles are looked for at distances that double.
    """

    def __init__(
        self,
        runtime: ControlledRuntime,
        actors: list[Actor],
        accesses: list[Accesses],
        operations: list[AtomicOperation[object] | None],
    ) -> None:
        self._runtime = runtime
        self._actors = actors
        self._accesses = accesses
        self._operations = operations
        self.cycle: Cycle | None = None
        self.rounds: list[tuple[int, int]] = []
        self._alone = -1
        self._since = 0
        self._look_at = 0
        # A round that may be one, from when on, what the thread knew then, and who could end it.
        self._length = 0
        self._begin = 0
        self._known: LocalState | None = None
        self._can_end = False

    def step(self, number: int) -> None:
        """Take note of a step that the thread of this number has made."""
        made = len(self._actors)
        together = (self._alone, TIME) if self.cycle is None else self.cycle.actors
        if number not in together:
            if self.cycle is not None:
                length = self.cycle.end - self.cycle.begin
                rounds = (made - 1 - self.cycle.begin) // length
                self.rounds.append((self.cycle.begin, self.cycle.begin + rounds * length))
            self.cycle = None
            self._alone, self._since = number, made - 1
            self._look_again(self._since + _FIRST_LOOK)
        elif self._length:
            self._go_round(made)
        elif made >= self._look_at:
            self._length = self._period(made)
            self._runtime.keep_frames = bool(self._length)
            self._look_at = 2 * made - self._since

    def _look_again(self, at: int) -> None:
        self._look_at = at
        self._length, self._known, self._can_end = 0, None, False
        self._runtime.keep_frames = False

    def _go_round(self, made: int) -> None:
        """Follow one round, and compare what the thread knows at its end with its beginning."""
        thread = self._runtime.threads[self._alone]
        if self._known is None:
            self._begin, self._known = made, local_state(thread)
            if self._known is None:
                self._look_again(2 * made - self._since)
            return
        self._can_end = self._can_end or self._others_can_end()
        length = self._length
        if made < self._begin + length:
            return
        if self._repeats(made, length) and local_state(thread) == self._known:
            begin = made - length
            while begin > self._since and self._repeats(begin + length - 1, 1, length):
                begin -= 1
            steps = self._operations[begin : begin + length]
            may_wait = thread.daemon or thread.name in self._runtime.settings.may_wait
            self.cycle = Cycle(
                thread=thread.name,
                actors=frozenset(self._actors[begin : begin + length]),
                begin=begin,
                end=begin + length,
                tried=made + length,
                endless=not self._can_end and not may_wait,
                steps=tuple("tick" if step is None else step.describe() for step in steps),
            )
        self._look_again(2 * made - self._since)

    def _others_can_end(self) -> bool:
        """Tell whether anything but the thread itself can make a difference at this moment."""
        runtime = self._runtime
        last = self._operations[-1]
        if isinstance(last, ReadClock) or (last is not None and last.alternatives > 1):
            return True
        if any(number != self._alone for number, _ in runtime.clock.state[1]):
            return True
        return any(
            thread.pending is not None and thread.pending.peek(thread) is not None
            for thread in runtime.threads.values()
            if thread.number not in (self._alone, TIME)
        )

    def _period(self, made: int) -> int:
        """Return the length of the shortest part that has just been made three times, else 0."""
        for length in range(1, (made - self._since) // 3 + 1):
            if self._repeats(made, 2 * length, length):
                return length
        return 0

    def _repeats(self, end: int, length: int, distance: int = 0) -> bool:
        """Tell whether the steps before `end` are those that were made at a distance before."""
        distance = distance or length
        here = slice(end - length, end)
        before = slice(end - length - distance, end - distance)
        return (
            self._accesses[here] == self._accesses[before]
            and self._actors[here] == self._actors[before]
        )
