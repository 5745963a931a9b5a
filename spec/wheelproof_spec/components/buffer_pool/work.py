"""The work of a buffer pool: what is asked of it, by one thread or by several.

A driven case has one caller, who keeps its buffers: to give one back, or to interrupt a call, it
waits for the answers so far. In a burst each thread gives a buffer back before its next call, since
threads that keep some memory and wait for more may wait for each other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from wheelproof_spec.base.calls import Advance, AvailableMemory, Close, Interrupt, Reset
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolFault,
    Queued,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.drive.work import (
    AdvanceBy,
    Alphabet,
    Draw,
    DrivenWork,
    InterruptThread,
    Kind,
    always,
)

_GIB = 2**30
_LONGER_THAN_ANY_WAIT_MS = 2_000
_PATIENT_MS = 1_000
_MANY = 60
_POOLABLE = (1, 2, 3, 4, 16, 1_000, 16_384)
_POOLABLE_IF_WIDE = (*_POOLABLE, *(_GIB, 7 * _GIB) * 2)
_BUFFERS = (1, 2, 3, 0)
_BUFFERS_OF_A_SIZE = (1, 1, 0, 2, 3)
_OF_TOTAL = (False, False, False, True)
_RESTS = (0, 0, 0, 1, -1, 2, -2)
_JUMPS_MS = (0, 1, 4, 1_000, 25_000)
_RARELY = 25
"""A close or a call outside the domain is one in so many: little happens after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBack(Call):
    """Give back one of the buffers that are lent then, counted round."""

    loan: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrow(Call):
    """Allocate without waiting, and keep the buffer until somebody gives it back."""

    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBackAgain(Call):
    """Give back one of the buffers that have been given back, counted round: it is refused."""

    loan: int


PoolStep = (
    Allocate
    | Borrow
    | GiveBack
    | GiveBackAgain
    | InterruptThread
    | AdvanceBy
    | AvailableMemory
    | Queued
    | Close
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWork:
    """Steps that allocate, wait for and give back buffers, within bounds.

    With `wide` pools have many GiB, without real memory; with `outside` sizes that are refused are
    drawn too, with `negative` also sizes below 0, and with `twice` buffers are given back twice.
    Without `any_size` all buffers have the poolable size, and pools have a multiple of it. With
    `programs` threads borrow, give back what any thread has borrowed, and ask; nobody interrupts.
    """

    wide: bool = True
    outside: bool = True
    negative: bool = True
    twice: bool = True
    any_size: bool = True
    interruption: bool = True
    closes: bool = True
    programs: bool = False
    faults: tuple[PoolFault, ...] = tuple(PoolFault)
    faultless: int = 4 * len(PoolFault)
    """For each fault that is possible, so many allocations have none."""
    timeouts_ms: tuple[int, ...] = (0, 5, _PATIENT_MS, _PATIENT_MS)

    @property
    def beyond(self) -> tuple[int, ...]:
        """The excesses of a size outside the domain: above the total, or below 0."""
        above = (1, 2**31) if self.wide else (1,)
        return (*above, -1, -(2**31)) if self.negative else above

    @property
    def what_goes_wrong(self) -> tuple[PoolFault | None, ...]:
        """The faults of an allocation; most of them are None."""
        before = PoolFault.INTERRUPTED_BEFORE
        possible = [one for one in self.faults if self.interruption or one is not before]
        return (*(None,) * self.faultless, *possible)

    def kinds(self) -> Alphabet[PoolConfig, PoolStep]:
        """Return the alphabet; see `Work.kinds`."""
        kinds: dict[str, Kind[PoolConfig, PoolStep]] = {
            "allocate": Kind(draw=self._allocate, weight=27),
            "allocate_patiently": Kind(draw=self._allocate_patiently),
            "deallocate": Kind(draw=lambda draw, _: GiveBack(loan=draw.below(_MANY))),
            "advance": Kind(draw=lambda draw, _: AdvanceBy(jump_ms=draw.among(_JUMPS_MS))),
        }
        if self.outside and self.any_size:
            kinds["allocate_outside"] = Kind(draw=self._allocate_outside, one_in=_RARELY // 5)
        if self.twice:
            kinds["deallocate_again"] = Kind(
                draw=lambda draw, _: GiveBackAgain(loan=draw.below(_MANY)), one_in=_RARELY // 5
            )
        if self.interruption:
            kinds["interrupt"] = Kind(
                draw=lambda draw, _: InterruptThread(victim=draw.below(_MANY)), weight=4
            )
        if self.closes:
            kinds["close"] = Kind(draw=always(Close()), weight=1, one_in=_RARELY)
        if self.programs:
            kinds["borrow"] = Kind(draw=self._borrow, weight=2)
            kinds["deallocate"] = replace(kinds["deallocate"], weight=2)
            kinds["ask_memory"] = Kind(draw=always(AvailableMemory()), weight=1)
            kinds["ask_queued"] = Kind(draw=always(Queued()), weight=1)
        return kinds

    def setup(self, draw: Draw) -> PoolConfig:
        """Return a pool of a few buffers, and perhaps a few bytes more."""
        poolable = draw.among(_POOLABLE_IF_WIDE if self.wide else _POOLABLE)
        buffers = draw.among(_BUFFERS if self.any_size else _BUFFERS[:-1])
        rest = draw.between(0, 3 if self.any_size else 0)
        return PoolConfig(
            total_memory=poolable * buffers + min(rest, poolable - 1),
            poolable_size=poolable,
            start_ms=draw.between(0, 2),
        )

    def _allocate(self, draw: Draw, config: PoolConfig) -> PoolStep:
        return Allocate(
            size=self._size(draw, config),
            max_time_to_block_ms=draw.among(self.timeouts_ms),
            fault=draw.among(self.what_goes_wrong),
        )

    def _borrow(self, draw: Draw, config: PoolConfig) -> PoolStep:
        return Borrow(size=self._size(draw, config))

    def _allocate_patiently(self, draw: Draw, config: PoolConfig) -> PoolStep:
        return Allocate(size=self._size(draw, config), max_time_to_block_ms=_PATIENT_MS)

    def _allocate_outside(self, draw: Draw, config: PoolConfig) -> PoolStep:
        excess = draw.among(self.beyond)
        size = excess + (config.total_memory if excess > 0 else 0)
        return Allocate(size=size, max_time_to_block_ms=5)

    def _size(self, draw: Draw, config: PoolConfig) -> int:
        """Return a size in units of the pool's buffers, so that it lies near the boundaries."""
        if not self.any_size:
            for _ in range(3):
                # As many numbers as below: a seed that was noted long ago gives the same case.
                draw.below(1)
            return config.poolable_size
        whole = draw.among(_BUFFERS_OF_A_SIZE) * config.poolable_size
        if draw.among(_OF_TOTAL):
            whole = config.total_memory
        return max(whole + draw.among(_RESTS), 0) % (config.total_memory + 1)


BURSTS = PoolWork(
    wide=False,
    faults=(PoolFault.ALLOCATOR,),
    faultless=3,
    # A patient call waits longer than a burst may take: if it gets no memory, the burst is stuck.
    timeouts_ms=(600_000, 600_000, 1, 0),
)
"""The work of bursts, where time passes."""
PROGRAMS = replace(BURSTS, interruption=False, programs=True)
"""The work of programs, which a model checker explores."""


def driven_work(work: PoolWork, judge: PoolOracle) -> DrivenWork[PoolConfig, PoolStep, PoolCall]:
    """Return the driven cases: at the end all buffers are given back. `judge` knows the answers."""
    return DrivenWork(work, lambda config, steps: _Walk(config, judge).through(steps))


class _Walk:
    """Turns steps into calls: it names the allocations, and keeps the time."""

    def __init__(self, config: PoolConfig, judge: PoolOracle) -> None:
        self._config = config
        self._judge = judge
        self._now_ms = config.start_ms
        self._allocated = 0
        self._given_back: list[CallId] = []
        self._closed = False

    def through(self, steps: Iterable[PoolStep]) -> Iterator[PoolCall | None]:
        """Yield the calls; after them no call waits and no buffer is lent."""
        yield Reset(config=self._config)
        for step in steps:
            yield from self._take(step)
        yield None
        while lent := self._judge.lent():
            yield from (Deallocate(buffer=name) for name in lent)
            yield None
        yield self._advance(_LONGER_THAN_ANY_WAIT_MS)

    def _take(self, step: PoolStep) -> Iterator[PoolCall | None]:
        match step:
            case Allocate():
                self._allocated += 1
                yield replace(step, buffer=f"a{self._allocated}")
            case GiveBack(loan=loan):
                yield None
                if lent := self._judge.lent():
                    self._given_back.append(lent[loan % len(lent)])
                    yield Deallocate(buffer=self._given_back[-1])
            case GiveBackAgain(loan=loan):
                if given_back := self._given_back:
                    yield Deallocate(buffer=given_back[loan % len(given_back)])
            case InterruptThread(victim=victim):
                yield None
                if waiting := self._judge.waiting():
                    yield Interrupt(name=waiting[victim % len(waiting)])
            case AdvanceBy(jump_ms=jump_ms):
                yield self._advance(jump_ms)
            case Close():
                if not self._closed:
                    self._closed = True
                    yield step
            case Borrow() | AvailableMemory() | Queued():
                raise AssertionError(step)

    def _advance(self, jump_ms: int) -> PoolCall:
        self._now_ms += jump_ms
        return Advance(to_ms=self._now_ms)
