"""The components that can be judged, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from wheelproof_spec.conformance.accumulator_suite import AccumulatorSuite
from wheelproof_spec.conformance.buffer_pool_suite import BufferPoolSuite
from wheelproof_spec.conformance.calls import Request
from wheelproof_spec.conformance.conformance import ConformancePlan, conform
from wheelproof_spec.conformance.conformance_result import ConformanceResult
from wheelproof_spec.conformance.purgatory_suite import PurgatorySuite
from wheelproof_spec.conformance.suite import Suite
from wheelproof_spec.conformance.timer_suite import TimerSuite

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
