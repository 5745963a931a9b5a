"""Faults: each breaks one clause of a correct accumulator history."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from wheelproof_lab.metamorphic.recording import Recording, Scene
from wheelproof_lab.metamorphic.relations import Fault, Metamorphic, acted
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.components.accumulator.calls import (
    EXPIRED,
    Append,
    Appended,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Mute,
    Readiness,
    Ready,
    Respond,
    YesOrNo,
)
from wheelproof_spec.components.accumulator.component import (
    KAFKA,
    TOPIC,
    WHEELPROOF,
    AccumulatorClause,
    AccumulatorConfig,
)

_PARTITION = "new partition"
_OTHER = "other partition"
_BATCH = "new batch"
_TIMEOUT_MS = 1_000_000
_OFFSET = 5


def _asked(scene: Scene, max_time_to_block_ms: int = 0, partition: str = _PARTITION) -> Append:
    return Append(
        record=scene.name(),
        partition=partition,
        size=10,
        max_time_to_block_ms=max_time_to_block_ms,
    )


def _appended(scene: Scene, *, new_batch: bool = True) -> str:
    asked = _asked(scene)
    scene.call(asked, Appended(new_batch_created=new_batch))
    return asked.record


def _drained(scene: Scene, *records: str) -> Scene:
    batch = DrainedBatch(batch=_BATCH, partition=_PARTITION, records=records)
    return scene.call(Drain(), Drained(batches=(batch,)))


def _answered(scene: Scene, *told: tuple[int, int | None]) -> Scene:
    """Send two records in a batch, and call back the given places with the given offsets."""
    records = _appended(scene), _appended(scene, new_batch=False)
    _drained(scene, *records).begin(Respond(batch=_BATCH))
    for place, offset in told:
        scene.begin(Callback(record=records[place], offset=offset, error=None))
    return scene.answer(Respond)


def _drained_though_muted(scene: Scene) -> object:
    record = _appended(scene)
    return _drained(scene.call(Mute(partition=_PARTITION)), record)


def _passed_over(scene: Scene) -> object:
    """Let two drains take from one partition while a record waits in the node's other one."""
    assert isinstance(scene.config, AccumulatorConfig)
    if scene.config.total_memory < 2 * scene.config.batch_size:
        return False
    scene.call(_asked(scene, partition=_OTHER), Appended(new_batch_created=True))
    asked = Drain(node=1, partitions=(_PARTITION, _OTHER), max_size=1)
    for turn in ("first", "second"):
        record = _appended(scene)
        batch = DrainedBatch(batch=turn, partition=_PARTITION, records=(record,))
        scene.call(asked, Drained(batches=(batch,))).begin(Respond(batch=turn))
        scene.begin(Callback(record=record, offset=0, error=None)).answer(Respond)
    return scene


def _expires_young(scene: Scene) -> object:
    record = _appended(scene)
    scene.begin(Expire()).begin(Callback(record=record, offset=None, error=EXPIRED))
    return scene.answer(Expire)


def _looked(
    scene: Scene,
    *,
    node: int = 0,
    leaderless: bool = False,
    ready: tuple[int, ...] = (),
    topics: tuple[str, ...] = (),
    later_ms: int = 0,
) -> object:
    """Call `ready` while a record waits in a partition of `node`."""
    assert isinstance(scene.config, AccumulatorConfig)
    _appended(scene)
    leaders = {} if leaderless else {_PARTITION: node}
    told = Readiness(
        ready_nodes=ready,
        unknown_leader_topics=topics,
        next_ready_check_delay_ms=scene.config.linger_ms + later_ms,
    )
    return scene.call(Ready(leaders=leaders), told)


def _with_timeout(act: Fault) -> Fault:
    """Return `act` for a history whose delivery timeout exceeds the age of every batch."""
    return _with_config(act, lambda config: replace(config, delivery_timeout_ms=_TIMEOUT_MS))


def _lingering(act: Fault) -> Fault:
    """Return `act` for a history in which batches linger, unless an earlier `ready` forbids it."""

    def inject(recording: Recording, dice: Random) -> Recording | None:
        if any(isinstance(op.value, Ready) for op in recording.ops):
            return act.inject(recording, dice)
        return lingering.inject(recording, dice)

    lingering = _with_config(act, lambda config: replace(config, linger_ms=_TIMEOUT_MS))
    return replace(act, inject=inject)


def _with_config(act: Fault, change: Callable[[AccumulatorConfig], AccumulatorConfig]) -> Fault:
    def inject(recording: Recording, dice: Random) -> Recording | None:
        config = recording.header.config
        assert isinstance(config, AccumulatorConfig)
        header = replace(recording.header, config=change(config))
        return act.inject(replace(recording, header=header), dice)

    return replace(act, inject=inject)


def _at_rest(clause: Clause, act: Callable[[Scene], object]) -> Fault:
    """Return a fault for a moment when no call is under way and the accumulator is open."""

    def act_if_open(scene: Scene) -> object:
        if any(isinstance(op.value, Close) for op in scene.ops):
            return False
        return act(scene)

    return acted(clause, act_if_open, whole=True)


_FIRST, _SECOND = (0, _OFFSET), (1, _OFFSET + 1)

METAMORPHIC = Metamorphic(
    faults=(
        _at_rest(
            AccumulatorClause.COMPLETES_ONCE,
            lambda scene: _answered(scene, _FIRST, _SECOND, _SECOND),
        ),
        _at_rest(AccumulatorClause.COMPLETES_ONCE, lambda scene: _answered(scene, _FIRST)),
        _at_rest(AccumulatorClause.IN_ORDER, lambda scene: _answered(scene, _SECOND, _FIRST)),
        _at_rest(
            AccumulatorClause.RIGHT_OUTCOME, lambda scene: _answered(scene, _FIRST, (1, _OFFSET))
        ),
        _at_rest(AccumulatorClause.OFFSET_OR_ERROR, lambda scene: _answered(scene, (0, None))),
        _at_rest(
            AccumulatorClause.REFUSES_AFTER_CLOSE,
            lambda scene: scene.call(Close()).call(_asked(scene), Appended()),
        ),
        _at_rest(
            AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
            lambda scene: scene.refused(_asked(scene), "Closed"),
        ),
        _at_rest(
            AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
            lambda scene: scene.refused(_asked(scene, _TIMEOUT_MS), "Exhausted"),
        ),
        _at_rest(AccumulatorClause.DRAINS_THE_HEADS, _drained_though_muted),
        _at_rest(AccumulatorClause.DRAIN_IS_FAIR, _passed_over),
        _at_rest(AccumulatorClause.READY_TELLS_THE_TRUTH, lambda scene: _looked(scene, ready=(1,))),
        _at_rest(AccumulatorClause.NAMES_TOPICS, lambda scene: _looked(scene, leaderless=True)),
        _at_rest(AccumulatorClause.NAMES_TOPICS, lambda scene: _looked(scene, topics=(_OTHER,))),
        _lingering(
            _at_rest(
                AccumulatorClause.CHECKS_AGAIN_IN_TIME, lambda scene: _looked(scene, later_ms=1)
            )
        ),
        _with_timeout(_at_rest(AccumulatorClause.EXPIRES_IN_TIME, _expires_young)),
        _at_rest(
            AccumulatorClause.FLUSH_WAITS, lambda scene: _appended(scene) and scene.call(Flush())
        ),
        _at_rest(
            AccumulatorClause.FLUSH_ENDS,
            lambda scene: scene.call(FlushInProgress(), YesOrNo(yes=True)),
        ),
        _at_rest(
            AccumulatorClause.NOTHING_IS_LEFT,
            lambda scene: scene.call(HasIncomplete(), YesOrNo(yes=True)),
        ),
        _at_rest(
            AccumulatorClause.MEMORY_IS_CONSERVED,
            lambda scene: scene.call(AvailableMemory(), Memory(size=0)),
        ),
    ),
    words=frozenset({"Expired", "Aborted", "Failed", TOPIC}),
    looks=frozenset({"available_memory", "has_incomplete", "flush_in_progress"}),
    meaningful=frozenset({"topics"}),
    profiles={WHEELPROOF: lambda recording: recording, KAFKA: lambda recording: recording},
    by_hand={
        AccumulatorClause.DRAIN_IS_FAIR: "test_a_drain_that_forgets_a_partition_is_no_drain",
        AccumulatorClause.REFUSES_AFTER_CLOSE: "test_accumulator_judge_refuses_a_faulty_answer",
    },
)
