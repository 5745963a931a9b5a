"""The buffer pool, of which a signal ends a call anywhere (standard 6.8).

An allocation that a signal has ended has nothing, and waits no longer. What was given back is back,
or it is still on loan.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof.producer import BufferExhaustedError, BufferPool, ByteBuffer
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.buffer_pool.bench import FOREVER, PoolBench
from wheelproof_lab.worlds.buffer_pool.programs import GUARDED
from wheelproof_lab.worlds.tables import SignalRow, act, signalled_scenario_of, signals_of


class SignalledPool(PoolBench):
    """A pool, and what a signal may have left of a call."""

    def __init__(self, pool_class: type[BufferPool], total: int, held: tuple[int, ...]) -> None:
        super().__init__(pool_class, total, held)
        self._got: list[ByteBuffer] = []

    def lend(self, size: int, timeout_ms: int = FOREVER) -> None:
        """Allocate, and keep what is lent."""
        try:
            self._got.append(self.pool.allocate(size, timeout_ms))
        except BufferExhaustedError:
            return

    def return_it(self) -> None:
        """Give back what `lend` has got."""
        for buffer in self._got:
            self.pool.deallocate(buffer)

    def give_back_again(self) -> None:
        """Give back the loans of the beginning that are still out."""
        for buffer in self.held:
            if buffer.receipt is not None:
                self.pool.deallocate(buffer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row(SignalRow[SignalledPool]):
    """Threads that use one pool of `total` bytes, of which `held` are on loan at the beginning."""

    total: int
    held: tuple[int, ...] = ()


_RETURN = act(SignalledPool.return_it)
_ROWS: Mapping[str, _Row] = {
    "pool-lend-pooled": _Row(
        summary="A signal ends an allocation of a buffer that is there, as another thread waits.",
        total=5,
        held=(2, 2),
        before=(act(SignalledPool.give_back, 0),),
        places=60,
        signalled=(act(SignalledPool.lend, 2), _RETURN),
        threads={"other": (act(SignalledPool.use, 3), act(SignalledPool.give_back, 1))},
    ),
    "pool-lend-frees": _Row(
        summary="A signal ends an allocation that takes a pooled buffer apart.",
        total=5,
        held=(2, 2),
        before=(act(SignalledPool.give_back, 0),),
        places=60,
        signalled=(act(SignalledPool.lend, 3), _RETURN),
        threads={"other": (act(SignalledPool.use, 1), act(SignalledPool.give_back, 1))},
    ),
    "pool-lend-waits": _Row(
        summary="A signal ends an allocation that waits: the next in the queue is served.",
        total=2,
        held=(2,),
        places=70,
        signalled=(act(SignalledPool.lend, 2), _RETURN),
        threads={
            "holder": act(SignalledPool.give_back),
            "patient": act(SignalledPool.use, 1),
        },
    ),
    "pool-lend-gathers": _Row(
        summary="A signal ends an allocation that gathers what comes back bit by bit.",
        total=3,
        held=(1, 2),
        places=80,
        signalled=(act(SignalledPool.lend, 3), _RETURN),
        threads={"holder": (act(SignalledPool.give_back, 0), act(SignalledPool.give_back, 1))},
    ),
    "pool-lend-in-vain": _Row(
        summary="A signal ends an allocation that waits in vain, before one that has enough.",
        total=3,
        held=(2,),
        places=60,
        signalled=(act(SignalledPool.lend, 3, 0), _RETURN),
        threads={"other": act(SignalledPool.use, 1)},
        check=SignalledPool.audit,
    ),
    "pool-give-back": _Row(
        summary="A signal ends the return of a buffer that another thread waits for.",
        total=2,
        held=(2,),
        places=20,
        signalled=(act(SignalledPool.give_back), act(SignalledPool.give_back_again)),
        threads={"waiter": act(SignalledPool.use, 1)},
    ),
    "pool-close": _Row(
        summary="A signal ends a close, which is made again: threads that wait are refused.",
        total=2,
        held=(2,),
        places=20,
        signalled=(act(SignalledPool.close), act(SignalledPool.close)),
        threads={"pooled": act(SignalledPool.use, 2), "small": act(SignalledPool.use, 1)},
        check=SignalledPool.audit,
    ),
    "pool-look": _Row(
        summary="A signal ends a question, while a thread allocates.",
        total=2,
        places=50,
        signalled=(act(SignalledPool.look),),
        threads={"other": act(SignalledPool.use, 2)},
    ),
}


def _build(row: _Row, pool_class: type[BufferPool]) -> Scenario:
    return signalled_scenario_of(row, SignalledPool(pool_class, row.total, row.held))


def signals_with(pool_class: type[BufferPool]) -> tuple[Program, ...]:
    """Return the programs in which a signal ends a call."""
    return signals_of(_ROWS, _build, pool_class, plain_fields=GUARDED)
