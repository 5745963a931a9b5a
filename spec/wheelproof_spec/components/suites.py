"""The components that can be judged, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.suite import Suite
from wheelproof_spec.components.accumulator.suite import AccumulatorSuite
from wheelproof_spec.components.buffer_pool.suite import BufferPoolSuite
from wheelproof_spec.components.purgatory.suite import PurgatorySuite
from wheelproof_spec.components.timer.suite import TimerSuite
from wheelproof_spec.engines.drive.conformance import ConformancePlan, conform
from wheelproof_spec.engines.drive.result import ConformanceResult

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")

_Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A component with its profiles, the usual one first, and the run that judges it."""

    name: str
    profiles: tuple[str, ...]
    conform: Callable[[ConformancePlan, _Progress], ConformanceResult]


def _component(suite: Suite[CallT, SeenT]) -> Component:
    return Component(
        name=suite.component,
        profiles=suite.profiles,
        conform=lambda plan, progress: conform(suite, plan, progress),
    )


COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        _component(TimerSuite()),
        _component(PurgatorySuite()),
        _component(BufferPoolSuite()),
        _component(AccumulatorSuite()),
    )
}
