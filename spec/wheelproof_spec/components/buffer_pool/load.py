"""The load of a pool's recordings: which calls it has, and how the reference makes them.

`work` draws the calls from a seed; a program in another language reads them from `wheelproof load`.
`load` has the reference's pool make them, for `wheelproof record`.

Callers want more memory together than there is. In a squeeze all of them want the last buffers; the
caller that has a buffer gives it back just when the time of the waiting callers is over.
"""

from functools import partial
from random import Random

from wheelproof_spec.base.calls import AvailableMemory, Close
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    PoolConfig,
    Queued,
)
from wheelproof_spec.components.buffer_pool.port import (
    PoolAnswer,
    PoolPort,
    PoolRequest,
    given_back,
)
from wheelproof_spec.components.buffer_pool.work import GiveBack
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort
from wheelproof_spec.history.recording.work import (
    LONGEST_PAUSE_US,
    Make,
    Meet,
    Pause,
    Step,
    Work,
    do_work,
    rounds,
    scattered,
)

_POOLABLE = 1_024
_BUFFERS = 8
_MOST_KEPT = 3
_LEAST_UNPOOLED = 8
"""In a smaller buffer there is no room for the name that a program may write into it."""
_UNPOOLED_ONE_IN = 3
_LONGEST_BLOCK_MS = 20
_SQUEEZED_MS = 6


class _Draw:
    """What has been drawn of a history so far."""

    def __init__(self, callers: Callers) -> None:
        self._threads = callers.threads
        self._kept = [0] * callers.threads
        """The most that each caller has; an allocation may have failed."""

    def round(self, dice: Random) -> list[Step]:
        """Return one round."""
        return dice.choice((self._squeeze, self._scattered))(dice)

    def _squeeze(self, dice: Random) -> list[Step]:
        """All allocate at once; the first to give back does so when the others' time is over."""
        wait_ms = dice.randrange(1, _SQUEEZED_MS)
        steps: list[Step] = []
        for caller in range(self._threads):
            steps += self._make_room(dice, caller)
            steps.append(self._allocate(dice, caller, wait_ms))
            wait_us = wait_ms * 1_000 - dice.randrange(LONGEST_PAUSE_US)
            steps.append(Pause(caller=caller, us=max(wait_us, 0)))
            steps.append(self._give_back(dice, caller))
            steps.append(self._allocate(dice, caller, dice.randrange(2)))
        return steps

    def _scattered(self, dice: Random) -> list[Step]:
        """Whatever a caller may ask for, now and then."""
        return scattered(dice, self._threads, lambda caller: [self._anything(dice, caller)])

    def _anything(self, dice: Random, caller: int) -> Make:
        choice, kept = dice.randrange(100), self._kept[caller]
        if choice < 3:
            return Make(caller=caller, call=dice.choice((AvailableMemory(), Queued())))
        if kept and (choice < 50 or kept == _MOST_KEPT):
            return self._give_back(dice, caller)
        return self._allocate(dice, caller, dice.randrange(_LONGEST_BLOCK_MS))

    def _make_room(self, dice: Random, caller: int) -> list[Step]:
        too_many = self._kept[caller] + 2 - _MOST_KEPT
        return [self._give_back(dice, caller) for _ in range(max(too_many, 0))]

    def _give_back(self, dice: Random, caller: int) -> Make:
        self._kept[caller] -= 1
        return Make(caller=caller, call=GiveBack(loan=dice.randrange(_MOST_KEPT)))

    def _allocate(self, dice: Random, caller: int, wait_ms: int) -> Make:
        self._kept[caller] += 1
        unpooled = dice.randrange(_UNPOOLED_ONE_IN) == 0
        size = dice.randrange(_LEAST_UNPOOLED, 3 * _POOLABLE) if unpooled else _POOLABLE
        return Make(caller=caller, call=Allocate(size=size, max_time_to_block_ms=wait_ms))

    def close(self, dice: Random) -> list[Step]:
        """Close the pool while the others wait for memory; what comes later is refused."""
        closer = dice.randrange(self._threads)
        steps: list[Step] = [Meet()]
        for caller in range(self._threads):
            if caller != closer:
                steps.append(self._allocate(dice, caller, _LONGEST_BLOCK_MS))
                steps.append(self._allocate(dice, caller, _LONGEST_BLOCK_MS))
        steps.append(Pause(caller=closer, us=dice.randrange(LONGEST_PAUSE_US)))
        return [*steps, Make(caller=closer, call=Close()), *self._scattered(dice)]


def work(callers: Callers) -> Work:
    """Return the work of one history; a pool of every second one is closed in the end."""
    dice = Random(f"buffer_pool {callers.seed} {callers.number}")
    drawn = _Draw(callers)
    steps = list(rounds(callers, dice, partial(_Draw.round, drawn)))
    if callers.hurried:
        steps += drawn.close(dice)
    config = PoolConfig(total_memory=_BUFFERS * _POOLABLE, poolable_size=_POOLABLE)
    return Work(config=config, steps=tuple(steps))


class BufferPoolLoad:
    """A pool; if the callers are hurried, it is closed while some of them wait for memory."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, PoolConfig)
        self._pool = PoolPort(self._work.config)
        self._kept: list[list[Allocated]] = [[] for _ in range(callers.threads)]

    @property
    def config(self) -> Config:
        """The settings of the pool."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the pool until everything has been given back."""
        pool = RecordedPort(self._pool, recorder)
        do_work(self._work, callers, partial(self._make, pool))
        for mine in self._kept:
            while mine:
                pool.perform(given_back(mine.pop()))
        pool.perform(AvailableMemory())
        pool.perform(Queued())

    def _make(self, pool: RecordedPort[PoolRequest, PoolAnswer], step: Make) -> None:
        mine = self._kept[step.caller]
        match step.call:
            case GiveBack(loan=loan):
                if mine:
                    pool.perform(given_back(mine.pop(loan % len(mine))))
            case Allocate() | AvailableMemory() | Queued() | Close():
                answer = pool.perform(step.call)
                if isinstance(answer, Allocated):
                    mine.append(answer)
            case _:
                raise AssertionError(step)


def load(callers: Callers) -> BufferPoolLoad:
    """Return the load of one history."""
    return BufferPoolLoad(callers)
