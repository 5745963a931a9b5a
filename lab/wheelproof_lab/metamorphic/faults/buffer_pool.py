"""Changes that break one clause of a valid buffer pool history."""

from collections.abc import Callable
from dataclasses import replace

from wheelproof_lab.metamorphic.recording import Scene
from wheelproof_lab.metamorphic.relations import Fault, Metamorphic, acted
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    LONGEST_WAITING_FIRST,
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    Queued,
    WaitingThreads,
)

_EXHAUSTED = "Exhausted"
_PATIENCE_MS = 1_000


def _total(scene: Scene) -> int:
    assert isinstance(scene.config, PoolConfig)
    return scene.config.total_memory


def _asked(size: int, max_time_to_block_ms: int = 0) -> Allocate:
    return Allocate(size=size, max_time_to_block_ms=max_time_to_block_ms)


def _lent(scene: Scene, size: int, name: str = "", answered: int | None = None) -> str:
    name = name or scene.name()
    scene.call(_asked(size), Allocated(buffer=name, size=size if answered is None else answered))
    return name


def _overtaken(scene: Scene) -> object:
    """Let a thread wait in vain, while memory goes to a thread that asked later."""
    if _total(scene) < 2:
        return False
    waits, look, one_waits = _asked(2), Queued(), WaitingThreads(count=1)
    _lent(scene, _total(scene) - 1)
    _lent(scene.begin(waits, "patient").call(look, one_waits), 1)
    return scene.call(look, one_waits).refuse(Allocate, _EXHAUSTED, "patient")


def _open(act: Callable[[Scene], object]) -> Callable[[Scene], object]:
    """Return `act`, restricted to scenes in which the pool was never closed."""

    def act_if_open(scene: Scene) -> object:
        if any(isinstance(op.value, Close) for op in scene.ops):
            return False
        return act(scene)

    return act_if_open


def _at_rest(clause: Clause, act: Callable[[Scene], object]) -> Fault:
    return acted(clause, _open(act), whole=True)


METAMORPHIC = Metamorphic(
    faults=(
        _at_rest(PoolClause.ENDS_FOR_A_REASON, lambda scene: scene.refused(_asked(1), "Closed")),
        acted(PoolClause.ENDS_FOR_A_REASON, lambda scene: scene.refused(_asked(1), "Interrupted")),
        replace(
            _at_rest(PoolClause.LONGEST_WAITING_FIRST, _overtaken),
            profiles=(LONGEST_WAITING_FIRST,),
        ),
        _at_rest(
            PoolClause.NO_MORE_THAN_TOTAL,
            lambda scene: _lent(scene, _total(scene)) and _lent(scene, 1),
        ),
        _at_rest(PoolClause.LENDS_ONCE, lambda scene: _lent(scene, 1, _lent(scene, 1))),
        _at_rest(PoolClause.LENDS_WHAT_WAS_ASKED, lambda scene: _lent(scene, 1, answered=2)),
        _at_rest(
            PoolClause.TAKES_BACK_WHAT_IT_LENT,
            lambda scene: scene.refused(Deallocate(buffer=_lent(scene, 1)), "IllegalArgument"),
        ),
        acted(
            PoolClause.TAKES_BACK_ONLY_LOANS,
            lambda scene: scene.call(Deallocate(buffer=scene.name())),
        ),
        _at_rest(PoolClause.NO_LOST_WAKE_UP, lambda scene: scene.refused(_asked(1), _EXHAUSTED)),
        _at_rest(
            PoolClause.WAIT_IS_BOUNDED,
            lambda scene: (
                _lent(scene, _total(scene)) and scene.refused(_asked(1, _PATIENCE_MS), _EXHAUSTED)
            ),
        ),
        _at_rest(PoolClause.CLOSE_RELEASES, lambda scene: scene.call(Close()) and _lent(scene, 1)),
        _at_rest(
            PoolClause.MEMORY_IS_CONSERVED,
            lambda scene: scene.call(AvailableMemory(), Memory(size=_total(scene) - 1)),
        ),
        acted(
            PoolClause.WAITERS_ARE_LIVE,
            lambda scene: scene.call(Queued(), WaitingThreads(count=1)),
        ),
        acted(
            PoolClause.KEEPS_TO_ITS_DOMAIN,
            lambda scene: scene.refused(_asked(1), "IllegalArgument"),
        ),
    ),
    looks=frozenset({"available_memory", "queued"}),
    profiles={
        LONGEST_WAITING_FIRST: lambda recording: recording,
        KAFKA: lambda recording: recording,
    },
    by_hand={PoolClause.KEEPS_BUFFERS: "test_a_pool_that_does_not_keep_its_buffers_fails"},
)
