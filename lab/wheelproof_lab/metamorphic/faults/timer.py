"""Changes that break one clause of a valid timer history, and changes that keep it valid."""

from dataclasses import replace
from functools import partial
from random import Random

from wheelproof_lab.metamorphic.recording import Recording, Scene
from wheelproof_lab.metamorphic.relations import (
    Fault,
    Metamorphic,
    Relation,
    Variation,
    acted,
)
from wheelproof_lab.metamorphic.variations import by_a_real_clock
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Close
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.contract import (
    CONTRACTS,
    EXACT,
    HASHED_WHEEL,
    KAFKA,
    NEVER_EARLY,
    WITHIN_A_TICK,
    FiringOrder,
)
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerClause,
    TimerConfig,
    WaitingTasks,
)

_RUNNER = "executor"
_LATENESS_MS = 1_000_000
_FAR = 10_000_000
"""More ticks than any history lasts, even if its lines are moved in time."""


def _config(recording: Recording) -> TimerConfig:
    assert isinstance(recording.header.config, TimerConfig)
    return recording.header.config


def _ticks(scene: Scene, ticks: int) -> int:
    assert isinstance(scene.config, TimerConfig)
    return scene.config.tick_ms * ticks


def _added(scene: Scene, ticks: int) -> Run:
    task = scene.name()
    scene.call(Add(task=task, delay_ms=_ticks(scene, ticks)))
    return Run(task=task)


def _runs_twice(scene: Scene) -> object:
    runs = [op.value for op in scene.ops if isinstance(op.value, Run)]
    again = scene.dice.choice(runs) if runs else Run(task="never added")
    pending = [op for op in scene.ops if isinstance(op.value, Add) and op.value.task == again.task]
    # A task that was added again may run again.
    return scene.begin(again, _RUNNER) if len(pending) < 2 else False


def _runs_early(scene: Scene) -> object:
    return scene.begin(_added(scene, _FAR), _RUNNER)


def _out_of_order(scene: Scene) -> object:
    # No order is promised with several runners, nor if `run_order` is open.
    runners = {op.process for op in scene.ops if isinstance(op.value, Run)} or {_RUNNER}
    assert isinstance(scene.config, TimerConfig)
    if len(runners) > 1 or scene.config.run_order == "open":
        return False
    (runner,) = runners
    first, second = _added(scene, 2), _added(scene, _FAR)
    return scene.wait(_ticks(scene, 2 * _FAR)).begin(second, runner).begin(first, runner)


def _left_behind(scene: Scene) -> object:
    _added(scene, 2)
    return scene.wait(_ticks(scene, 9)).call(AdvanceClock(), Advanced())


def _never_ran(recording: Recording, dice: Random) -> Recording:
    scene = Scene(recording, dice, whole=True)
    _left_behind(scene)
    later = scene.recording(end=True)
    config = replace(_config(later), runs="later")
    return replace(later, header=replace(later.header, config=config))


def _late(recording: Recording, dice: Random) -> Recording | None:
    real = by_a_real_clock(recording, dice)
    if real is None:
        return None
    config = replace(_config(real), lateness_ms=_LATENESS_MS, runs=ABSENT, run_order=ABSENT)
    scene = Scene(replace(real, header=replace(real.header, config=config)), dice)
    # With two runners no order is promised, so other due tasks may wait.
    scene.begin(_added(scene, -_LATENESS_MS), "another runner")
    run = _added(scene, 1)
    return scene.wait(2 * _LATENESS_MS).begin(run, _RUNNER).recording()


def _own_thread(recording: Recording, dice: Random) -> Recording:
    del dice
    return recording.with_ops(
        replace(op, process=f"runner-{op.index}") if op.f == "run" else op for op in recording.ops
    )


def _one_thread(recording: Recording, dice: Random) -> Recording:
    """Return the history with all runs on one thread, which promises no order."""
    del dice
    config = replace(_config(recording), run_order="open")
    merged = replace(recording, header=replace(recording.header, config=config))
    return merged.with_ops(
        replace(op, process="runner") if op.f == "run" else op for op in recording.ops
    )


def _rounded(ticks: int, less_ms: int, recording: Recording) -> Recording:
    """Return the history with other delays, so that another rounding gives the same due times."""
    sooner_ms = ticks * _config(recording).tick_ms - less_ms
    return recording.with_ops(
        replace(op, value=replace(op.value, delay_ms=op.value.delay_ms - sooner_ms))
        if isinstance(op.value, Add)
        else op
        for op in recording.ops
    )


def _without_ticks(recording: Recording) -> Recording | None:
    """Return the history if its tick is 1 ms, the resolution of a deadline, else None."""
    return recording if _config(recording).tick_ms == 1 else None


METAMORPHIC = Metamorphic(
    faults=(
        acted(TimerClause.RUNS_AT_MOST_ONCE, _runs_twice),
        acted(TimerClause.NEVER_BEFORE_DUE, _runs_early),
        replace(
            acted(TimerClause.RUNS_IN_ORDER, _out_of_order, end=True),
            profiles=tuple(
                one.name for one in CONTRACTS.values() if one.order is not FiringOrder.ANY
            ),
        ),
        acted(TimerClause.NOTHING_LEFT_BEHIND, _left_behind),
        Fault(clause=TimerClause.NOTHING_LEFT_BEHIND, inject=_never_ran),
        acted(
            TimerClause.CANCEL_TELLS_THE_TRUTH,
            lambda scene: scene.call(Cancel(task=scene.name()), Cancelled(cancelled=True)),
        ),
        acted(
            TimerClause.SIZE_COUNTS_WAITING,
            lambda scene: scene.call(Size(), WaitingTasks(size=1_000)),
        ),
        Fault(clause=TimerClause.RUNS_WITHIN_ITS_LATENESS, inject=_late),
        acted(
            TimerClause.REFUSES_ONLY_AFTER_CLOSE,
            lambda scene: scene.refused(Add(task=scene.name(), delay_ms=0), "Closed"),
        ),
        acted(
            TimerClause.REFUSES_AFTER_CLOSE,
            lambda scene: scene.call(Close()).call(Add(task=scene.name(), delay_ms=1)),
        ),
    ),
    variations=(
        Variation(name="a thread for each run", relation=Relation.ALLOWED, vary=_own_thread),
        Variation(name="one thread for all runs", relation=Relation.ALLOWED, vary=_one_thread),
    ),
    looks=frozenset({"size"}),
    profiles={
        KAFKA.name: lambda recording: recording,
        NEVER_EARLY.name: partial(_rounded, 1, 1),
        HASHED_WHEEL.name: partial(_rounded, 1, 0),
        EXACT.name: _without_ticks,
        WITHIN_A_TICK.name: partial(_rounded, 1, 1),
    },
)
