"""Cycles of a run: one thread runs alone and comes back to the same state.

Another round reaches no new state. A cycle is a failure only if neither another thread nor the
clock can end it.
"""

from dataclasses import dataclass

from wheelproof_explore.runs.local_state import LocalState, local_state
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import AtomicOperation
from wheelproof_explore.runtime.numbers import TIME, Actor
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.timing import ReadClock

_FIRST_LOOK = 48
"""The number of steps of one thread alone after which a repetition is searched for."""
_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """A cycle of one thread.

    `actors` are the thread, and time if it takes part. The first round has the steps from `begin`
    to `end`, in words `steps`. Other threads have a chance to run until step `tried`. It is
    `endless` if no other thread can make a step anywhere in it, the thread neither reads the clock
    nor makes a choice, and the thread is not one that may wait for ever.
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
    """A watch of one run for cycles; `cycle` is the current one, if any.

    `rounds` are idle rounds before another thread went on: the first step, and the step after the
    last. Time may take part. Cycles are searched for at doubling distances.
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
        # A possible round: its length, its begin, the local state there, and if others can end it.
        self._length = 0
        self._begin = 0
        self._known: LocalState | None = None
        self._can_end = False

    def step(self, number: int) -> None:
        """Record a step of the thread with this number."""
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
        """Follow one round, and compare the local states at its begin and its end."""
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
        """Tell whether another thread, the clock or a choice can end the cycle at this moment."""
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
        """Return the length of the shortest sequence that was just made three times, else 0."""
        for length in range(1, (made - self._since) // 3 + 1):
            if self._repeats(made, 2 * length, length):
                return length
        return 0

    def _repeats(self, end: int, length: int, distance: int = 0) -> bool:
        """Tell whether the `length` steps before `end` equal those `distance` steps earlier."""
        distance = distance or length
        here = slice(end - length, end)
        before = slice(end - length - distance, end - distance)
        return (
            self._accesses[here] == self._accesses[before]
            and self._actors[here] == self._actors[before]
        )
