"""Makes the published vectors of the timer: edges of TLC's graphs, named cases, corners.

Deterministic: the same sources give the same bytes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from wheelproof_lab.vectors.corners import timer_corners
from wheelproof_lab.vectors.driven_wheel import DrivenWheel, submitted
from wheelproof_lab.vectors.edge_cover import Walk, edge_cover
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.component import VIRTUAL_TIME
from wheelproof_spec.base.contract import CONTRACTS, KAFKA, Rounding, TimerContract
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.history.lines import VECTOR, Origin, Vector
from wheelproof_spec.base.results.reports import make_folder
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import (
    Add,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerExpectation,
)
from wheelproof_spec.components.timer.model import timer_of
from wheelproof_spec.components.timer.vector_answers import (
    TimerStep,
    perform,
    timer_flags,
    timer_steps,
)
from wheelproof_spec.drive.vector_files import with_hash, write_vectors
from wheelproof_spec.tlc.running.launch import Toolchain, find_toolchain
from wheelproof_spec.tlc.states.graph import StateGraph

WHEELS = read_rows(__file__, "wheels.toml", "wheel", DrivenWheel)
SEED = 7
CORNERS = 50
_LONGEST_WALK = 60


class DisagreementError(WheelproofSpecError):
    """TLC's graph and the contract disagree: one of the two is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    name: str
    config: TimerConfig
    calls: tuple[TimerCall, ...]
    origin: Origin
    notes: str = ""


def edge_vectors(toolchain: Toolchain, wheel: DrivenWheel) -> list[Vector[object, object]]:
    """Return vectors that cover every edge of the graph of `wheel`, calls and arguments included.

    Raises DisagreementError if the contract `kafka` and TLC do not run the same tasks.
    """
    graph = wheel.graph(toolchain)
    walks = edge_cover(graph, _LONGEST_WALK)
    # Walks that differ only in which of two equal buckets is polled first have the same calls.
    calls = dict.fromkeys(_checked_calls(wheel, graph, walk) for walk in walks)
    last: tuple[TimerCall, ...] = (Advance(to_ms=wheel.horizon_ms + wheel.tick_ms), Size())
    origin = Origin(generator="edge-cover", model="MCTimingWheel")
    cases = (
        _Case(
            name=f"timer/edges/{wheel.name}-{number:03}",
            config=wheel.config,
            calls=(*walk, *last),
            origin=origin,
        )
        for number, walk in enumerate(calls, start=1)
    )
    return [_vector_of_kafka(case) for case in cases]


def scenario_vectors() -> list[Vector[object, object]]:
    """Return the named cases of the timer as vectors."""
    return [vector for case in _scenario_cases() for vector in _vectors(case)]


def corner_vectors(seed: int, count: int) -> list[Vector[object, object]]:
    """Return `count` cases at the corners of the domain as vectors."""
    answered = (
        corner for corner in timer_corners(seed) if timer_steps(KAFKA, corner.config, corner.calls)
    )
    cases = (
        _Case(
            name=f"timer/corners/{number:03}",
            config=corner.config,
            calls=corner.calls,
            origin=Origin(generator="corners", seed=seed),
        )
        for number, corner in enumerate(islice(answered, count), start=1)
    )
    return [vector for case in cases for vector in _vectors(case)]


def _scenario_cases() -> Iterator[_Case]:
    for scenario in TIMER.scenarios():
        first = scenario.calls[0]
        assert isinstance(first, Reset)
        slug = re.sub(r"[^a-z0-9]+", "-", scenario.name.lower()).strip("-")
        yield _Case(
            name=f"timer/scenarios/{slug}",
            config=first.config,
            calls=scenario.calls[1:],
            origin=Origin(generator="scenarios"),
            notes=scenario.name,
        )


def _vector_of_kafka(case: _Case) -> Vector[object, object]:
    for vector in _vectors(case):
        if KAFKA.name in vector.profiles:
            return vector
    raise DisagreementError(
        f"the model takes what comes of {_words(case.calls)} for determined, the contract does not"
    )


def _vectors(case: _Case) -> Iterator[Vector[object, object]]:
    """Yield one vector for all contracts that give the same answers; none for an open answer."""
    contracts: dict[tuple[TimerStep, ...], list[TimerContract]] = {}
    # An exact contract has no rule for ticks, so a vector with ticks adds nothing for it.
    for contract in (one for one in CONTRACTS.values() if one.rounding is not Rounding.EXACT):
        steps = timer_steps(contract, case.config, case.calls)
        if steps is not None:
            contracts.setdefault(steps, []).append(contract)
    for steps, those in contracts.items():
        names = tuple(contract.name for contract in those)
        name = case.name if KAFKA in those else f"{case.name}/{names[0]}"
        yield _vector(case, name, names, steps)


def _vector(
    case: _Case, name: str, profiles: tuple[str, ...], steps: tuple[TimerStep, ...]
) -> Vector[object, object]:
    return with_hash(
        Vector(
            schema=VECTOR,
            id=name,
            component=TimerConfig.component,
            result="acceptable" if _leaves_open(steps) else "valid",
            flags=timer_flags(case.config, case.calls),
            needs=(VIRTUAL_TIME,),
            profiles=profiles,
            config=case.config,
            steps=steps,
            origin=case.origin,
            hash="sha256:",
            notes=case.notes or ABSENT,
        )
    )


def _leaves_open(steps: Iterable[TimerStep]) -> bool:
    for step in steps:
        if isinstance(step.expect, TimerExpectation):
            if step.expect.any_order:
                return True
        elif isinstance(step.args, Add):
            return True
    return False


def _checked_calls(wheel: DrivenWheel, graph: StateGraph, walk: Walk) -> tuple[TimerCall, ...]:
    calls = tuple(wheel.calls_of(graph, walk))
    seen = submitted(graph, walk)
    most = _ran_adds(wheel.config, calls, at_once=True)
    least = _ran_adds(wheel.config, calls, at_once=False)
    complete = _ends_between_calls(graph, walk)
    if not seen <= most or (complete and not least <= seen):
        raise DisagreementError(
            f"after {_words(calls)} TLC has submitted {sorted(seen)} in {wheel.name}, but by the "
            f"contract it is {sorted(least)} at least and {sorted(most)} at most"
        )
    return calls


def _ran_adds(
    config: TimerConfig, calls: Sequence[TimerCall], *, at_once: bool
) -> frozenset[tuple[TaskId, int]]:
    """Return which adds have run after `calls`: each task with the number of its add, from 1."""
    timer = timer_of(config, KAFKA)
    adds: Counter[TaskId] = Counter()
    found: set[tuple[TaskId, int]] = set()
    for call in calls:
        if isinstance(call, Reset):
            continue
        if isinstance(call, Add):
            adds[call.task] += 1
        ran, _ = perform(timer, call, at_once=at_once)
        found |= {(entry.task, adds[entry.task]) for entry in ran}
    return frozenset(found)


def _ends_between_calls(graph: StateGraph, walk: Walk) -> bool:
    state = graph.states[walk[-1].target]
    return state["phase"] == "outside" and state["behind"] is False


def _words(calls: Sequence[TimerCall]) -> str:
    return ", ".join(str(call) for call in calls)


def generate(folder: Path, toolchain: Toolchain | None = None) -> Mapping[Path, int]:
    """Write all files into `folder`; return how many vectors each of them has.

    Raises MissingToolError without a TLC, DisagreementError if TLC and the contract differ.
    """
    make_folder(folder)
    counts: dict[Path, int] = {}
    for name, make in _files(toolchain or find_toolchain()).items():
        vectors = make()
        write_vectors(folder / name, vectors)
        counts[folder / name] = len(vectors)
    return counts


def _files(toolchain: Toolchain) -> Mapping[str, Callable[[], list[Vector[object, object]]]]:
    return {
        "timer-scenarios.jsonl": scenario_vectors,
        "timer-corners.jsonl": partial(corner_vectors, SEED, CORNERS),
        **{
            f"timer-edges-{wheel.name}.jsonl": partial(edge_vectors, toolchain, wheel)
            for wheel in WHEELS
        },
    }
