"""Random cases of a buffer pool, and the domain that they come from.

A deallocate or an interrupt depends on the buffers that are lent: a case waits for the answers.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, DrawnStep
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolFault,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.drive.drawn_cases import draw_case

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
_AMOUNT = (len(_BUFFERS_OF_A_SIZE), len(_OF_TOTAL), len(_RESTS))
_TIMEOUTS_MS = (0, 5, _PATIENT_MS, _PATIENT_MS)
_JUMPS_MS = (0, 1, 4, 1_000, 25_000)
_RARELY = 25
"""A close or a call outside the domain is one in so many: little happens after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDomain:
    """The bounds within which cases are drawn.

    With `wide` pools have many GiB, without real memory; with `outside` sizes that are refused are
    drawn too, with `negative` also sizes below 0, and with `twice` buffers are given back twice.
    Without `any_size` all buffers have the poolable size, and pools have a multiple of it.
    """

    wide: bool = True
    outside: bool = True
    negative: bool = True
    twice: bool = True
    any_size: bool = True
    interruption: bool = True
    closes: bool = True
    faults: tuple[PoolFault, ...] = tuple(PoolFault)

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
        return (*(None,) * 4 * len(PoolFault), *possible)


class PoolCases(CaseSpace[PoolCall]):
    """Cases that allocate, wait for and give back buffers; at the end all are given back."""

    def __init__(self, domain: PoolDomain, judge: PoolOracle) -> None:
        """Draw within `domain`; `judge` knows the answers."""
        self._domain = domain
        self._judge = judge
        amount = _AMOUNT if domain.any_size else (1, 1, 1)
        kinds = {
            "allocate": (*amount, len(_TIMEOUTS_MS), len(domain.what_goes_wrong)),
            "allocate_patiently": amount,
            "deallocate": (_MANY,),
            "advance": (len(_JUMPS_MS),),
        }
        if domain.outside and domain.any_size:
            kinds["allocate_outside"] = (len(domain.beyond), _RARELY // 5)
        if domain.twice:
            kinds["deallocate_again"] = (_MANY, _RARELY // 5)
        if domain.interruption:
            kinds["interrupt"] = (_MANY,)
        if domain.closes:
            kinds["close"] = (_RARELY,)
        self._kinds = kinds

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`."""
        domain = self._domain
        poolable = len(_POOLABLE_IF_WIDE if domain.wide else _POOLABLE)
        sizes = (len(_BUFFERS), 4) if domain.any_size else (len(_BUFFERS) - 1, 1)
        return draw_case(chance, (poolable, *sizes, 3), self._kinds)

    def calls(self, case: DrawnCase) -> Iterator[PoolCall | None]:
        """Yield the calls of a case; see `CaseSpace.calls`."""
        place, buffers, rest, start_ms = case.config
        poolable = _POOLABLE_IF_WIDE[place]
        config = PoolConfig(
            total_memory=poolable * _BUFFERS[buffers] + min(rest, poolable - 1),
            poolable_size=poolable,
            start_ms=start_ms,
        )
        walk = _Walk(config, self._domain, self._judge)
        yield Reset(config=config)
        for step in case.steps:
            yield from walk.take(step)
        yield from walk.give_everything_back()


class _Walk:
    def __init__(self, config: PoolConfig, domain: PoolDomain, judge: PoolOracle) -> None:
        self._config = config
        self._domain = domain
        self._judge = judge
        self._now_ms = config.start_ms
        self._allocated = 0
        self._given_back: list[CallId] = []
        self._closed = False

    def take(self, step: DrawnStep) -> Iterator[PoolCall | None]:
        match step:
            case "allocate", (buffers, of_total, rest, timeout, fault):
                size = self._size(buffers, of_total, rest)
                wrong = self._domain.what_goes_wrong[fault]
                yield self._allocate(size, _TIMEOUTS_MS[timeout], wrong)
            case "allocate_patiently", (buffers, of_total, rest):
                yield self._allocate(self._size(buffers, of_total, rest), _PATIENT_MS)
            case "allocate_outside", (place, 0):
                excess = self._domain.beyond[place]
                yield self._allocate(excess + (self._config.total_memory if excess > 0 else 0), 5)
            case "deallocate", (number,):
                yield None
                if lent := self._judge.lent():
                    self._given_back.append(lent[number % len(lent)])
                    yield Deallocate(buffer=self._given_back[-1])
            case "deallocate_again", (number, 0) if self._given_back:
                yield Deallocate(buffer=self._given_back[number % len(self._given_back)])
            case "interrupt", (number,):
                yield None
                if waiting := self._judge.waiting():
                    yield Interrupt(name=waiting[number % len(waiting)])
            case "advance", (jump,):
                yield self._advance(_JUMPS_MS[jump])
            case "close", (0,) if not self._closed:
                self._closed = True
                yield Close()
            case _:
                pass

    def give_everything_back(self) -> Iterator[PoolCall | None]:
        """Yield calls after which no call waits and no buffer is lent."""
        yield None
        while lent := self._judge.lent():
            yield from (Deallocate(buffer=name) for name in lent)
            yield None
        yield self._advance(_LONGER_THAN_ANY_WAIT_MS)

    def _size(self, buffers: int, of_total: int, rest: int) -> int:
        """Return a size in units of the pool's buffers, so that it lies near the boundaries."""
        config = self._config
        if not self._domain.any_size:
            return config.poolable_size
        whole = _BUFFERS_OF_A_SIZE[buffers] * config.poolable_size
        if _OF_TOTAL[of_total]:
            whole = config.total_memory
        return max(whole + _RESTS[rest], 0) % (config.total_memory + 1)

    def _allocate(self, size: int, timeout_ms: int, fault: PoolFault | None = None) -> PoolCall:
        self._allocated += 1
        return Allocate(
            buffer=f"a{self._allocated}", size=size, max_time_to_block_ms=timeout_ms, fault=fault
        )

    def _advance(self, jump_ms: int) -> PoolCall:
        self._now_ms += jump_ms
        return Advance(to_ms=self._now_ms)
