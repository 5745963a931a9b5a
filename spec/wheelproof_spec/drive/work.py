"""The work of a component: one alphabet of typed steps, for driven cases and for bursts of threads.

A step is a call of the component. Where the call depends on what happened before, the step says so:
"the third buffer that is lent", "5 ms later". Its arguments are asked of a `Draw`: by seed, by
Hypothesis, or once more from the numbers of an earlier draw, which is how a case shrinks.
"""

import dataclasses
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.component import Call, CallT
from wheelproof_spec.base.suite import CaseSpace, DrawnCase

STEPS_PER_CASE = 50

_OFTEN = (1, 3)
_AT_TIMES = (0, 1, 1, 3)

ItemT = TypeVar("ItemT")
SetupT = TypeVar("SetupT")
StepT = TypeVar("StepT", bound=Call)
CallT_co = TypeVar("CallT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceBy(Call):
    """Move the clock on by so many milliseconds."""

    jump_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptThread(Call):
    """Interrupt one of the threads that can be interrupted then, counted round."""

    victim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AndCall(Call):
    """Make a call whose callback makes another one, or raises."""

    step: Call
    then: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise(Call):
    """Raise an error: what a callback may do instead of a call."""


class Draw(ABC):
    """Draws the arguments of a step."""

    @abstractmethod
    def between(self, least: int, most: int, often_to: int | None = None) -> int:
        """Return a number, both ends included; the simplest is the one nearest to 0.

        With `often_to` half of all numbers are at most that.
        """

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1."""
        return self.between(0, bound - 1)

    def among(self, values: Sequence[ItemT]) -> ItemT:
        """Return one of `values`; the first is the simplest."""
        return values[self.below(len(values))]

    def once_in(self, count: int) -> bool:
        """Return whether something rare happens, as it does once in `count` draws."""
        return self.below(count) == 0


class SeededDraw(Draw):
    """Draws by a generator, and notes the numbers: each is the distance from the simplest one."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.numbers: list[int] = []

    def between(self, least: int, most: int, often_to: int | None = None) -> int:
        """Return a number; see `Draw.between`."""
        if often_to is not None and self._chance.random() < 0.5:
            most = min(most, often_to)
        number = self._chance.randint(least, most)
        self.numbers.append(number - _simplest(least, most))
        return number


class RepeatedDraw(Draw):
    """Draws the same again, given the numbers; where there are no more, the simplest."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def between(self, least: int, most: int, often_to: int | None = None) -> int:
        """Return a number; see `Draw.between`."""
        del often_to
        number = _simplest(least, most) + next(self._numbers, 0)
        return min(max(number, least), most)


def _simplest(least: int, most: int) -> int:
    return min(max(0, least), most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[SetupT, StepT]):
    """A kind of step: how one is drawn for a set-up, and how often.

    `weight` counts in bursts of threads; with 0 it is in none. A driven case has its own mix of
    kinds; there one in `one_in` steps of this kind is made, and the others are left out.
    """

    draw: Callable[[Draw, SetupT], StepT | None]
    """Return a step, or None if a driven case leaves it out."""
    weight: int = 0
    one_in: int = 1

    def driven(self, draw: Draw, setup: SetupT) -> StepT | None:
        """Return a step of a driven case, or None if it is left out."""
        step = self.draw(draw, setup)
        return step if self.one_in == 1 or draw.once_in(self.one_in) else None

    def in_a_burst(self, draw: Draw, setup: SetupT) -> StepT:
        """Return a step of a burst."""
        step = self.draw(draw, setup)
        assert step is not None, "a kind with a weight always gives a step"
        return step


def always(step: StepT) -> Callable[[Draw, object], StepT]:
    """Return the `draw` of a kind whose steps are all the same."""

    def draw(draw: Draw, setup: object) -> StepT:
        del draw, setup
        return step

    return draw


Alphabet = Mapping[str, Kind[SetupT, StepT]]
"""The kinds of steps, by name."""


class Work(Protocol[SetupT, StepT]):
    """The work of a component, within some bounds."""

    def kinds(self) -> Alphabet[SetupT, StepT]:
        """Return the alphabet. The first kind takes part in every driven case."""
        ...

    def setup(self, draw: Draw) -> SetupT:
        """Return how the component is set up."""
        ...


class DrivenWork(CaseSpace[CallT], Generic[SetupT, StepT, CallT]):
    """The driven cases that come from an alphabet.

    `calls` turns the steps of a case into calls, a reset first. It yields None where the later
    calls depend on the earlier answers; see `CaseSpace.calls`.
    """

    def __init__(
        self,
        work: Work[SetupT, StepT],
        calls: Callable[[SetupT, Iterable[StepT]], Iterator[CallT | None]],
        *,
        setup_first: bool = False,
    ) -> None:
        """Draw the mix of kinds before the set-up, or after it with `setup_first`.

        The order of what is drawn stays: a seed that somebody has noted gives the same case.
        """
        self._setup = work.setup
        self._kinds = work.kinds()
        self._calls = calls
        self._setup_first = setup_first

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`.

        Each case has its own mix of kinds, and some kinds are left out: some defects show only
        then.
        """
        names = [] if self._setup_first else self._mixed(chance)
        of_setup = SeededDraw(chance)
        setup = self._setup(of_setup)
        steps: list[tuple[str, tuple[int, ...]]] = []
        for name in names or self._mixed(chance):
            of_step = SeededDraw(chance)
            self._kinds[name].driven(of_step, setup)
            steps.append((name, tuple(of_step.numbers)))
        return DrawnCase(config=tuple(of_setup.numbers), steps=tuple(steps))

    def _mixed(self, chance: random.Random) -> list[str]:
        others = (chance.choice(_AT_TIMES) for _ in range(len(self._kinds) - 1))
        mix = [chance.choice(_OFTEN), *others]
        return chance.choices(tuple(self._kinds), mix, k=STEPS_PER_CASE)

    def calls(self, case: DrawnCase) -> Iterator[CallT | None]:
        """Yield the calls of a case; see `CaseSpace.calls`."""
        setup = self._setup(RepeatedDraw(case.config))
        drawn = (
            self._kinds[name].driven(RepeatedDraw(numbers), setup) for name, numbers in case.steps
        )
        return self._calls(setup, (step for step in drawn if step is not None))


def shown(step: Call) -> str:
    """Return a step as one would write the call: ``allocate(size=16, max_time_to_block_ms=5)``.

    Arguments that have their default value are left out.
    """
    defaults = {one.name: one.default for one in dataclasses.fields(step)}
    said = ", ".join(
        f"{name}={_plain(value)!r}"
        for name, value in _fields(step).items()
        if value != defaults[name]
    )
    return f"{step.name_on_the_wire()}({said})"


def plain_record(record: object) -> dict[str, object]:
    """Return the fields of a dataclass as plain data, without those that are absent."""
    values = _fields(record).items()
    return {name: _plain(value) for name, value in values if value is not ABSENT}


def _fields(record: object) -> dict[str, object]:
    assert dataclasses.is_dataclass(record)
    return {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Call):
        return shown(value)
    return plain_record(value) if dataclasses.is_dataclass(value) else value
