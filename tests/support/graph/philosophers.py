"""What the tests of graph mode share: the philosophers, seen as their TLA+ module sees them."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from wheelproof import sync
from wheelproof_explore.program import Scenario
from wheelproof_lab.graph.comparing.comparisons import (
    GraphModel,
    GraphOutcome,
    carry_out,
    program_side,
)
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration
from wheelproof_lab.graph.states.views import (
    GraphProgram,
    NextStep,
    Surroundings,
    View,
    ViewedRun,
)
from wheelproof_spec.tlc.running.launch import Toolchain, find_toolchain
from wheelproof_spec.tlc.states.values import State, Value, make_function

FIXTURES = Path(__file__).parent
Forks = list[sync.Lock]

_STEPS = {
    ("Acquire", True): "TakeLeft",
    ("Acquire", False): "TakeRight",
    ("Release", False): "GiveRight",
    ("Release", True): "GiveLeft",
}


@cache
def toolchain() -> Toolchain:
    return find_toolchain()


class Table(View):
    """Philosophers 0, 1, ...; the left fork of each has its number."""

    def __init__(self, count: int, *, ordered: bool) -> None:
        self._count = count
        self._ordered = ordered
        self._forks: Forks = [sync.lock(f"fork {number}") for number in range(count)]

    def subject(self) -> ViewedRun:
        threads = {str(number): partial(self._dine, number) for number in range(self._count)}
        return ViewedRun(scenario=Scenario(threads=threads), view=self)

    def _dine(self, number: int) -> None:
        left, right = number, (number + 1) % self._count
        first, second = sorted((left, right)) if self._ordered else (left, right)
        with self._forks[first], self._forks[second]:
            pass

    def state(self, surroundings: Surroundings) -> State:
        holders = [surroundings.holder(fork) for fork in self._forks]
        steps: dict[int, Value] = {
            number: _action(surroundings.pending[str(number)])
            if str(number) in surroundings.pending
            else "Done"
            for number in range(self._count)
        }
        return {
            "holder": make_function(
                (number, -1 if holder is None else int(holder))
                for number, holder in enumerate(holders)
            ),
            "pc": make_function(steps.items()),
        }

    def label(self, step: NextStep) -> str | None:
        return _action(step)


def _action(step: NextStep) -> str:
    return _STEPS[step.operation, step.subject == f"fork {step.thread}"]


def philosophers(count: int, *, ordered: bool = False) -> GraphProgram:
    return GraphProgram(name="philosophers", build=lambda: Table(count, ordered=ordered).subject())


def philosophers_model(count: int, *, ordered: bool = False) -> GraphModel:
    return GraphModel(
        name="philosophers",
        summary="",
        code=program_side(philosophers(count, ordered=ordered)),
        configuration=TlcConfiguration(
            module="Philosophers", constants={"N": count}, folder=FIXTURES
        ),
        project=lambda state: state,
        label=_label,
    )


def _label(action: str, before: State, after: State) -> str:
    del before, after
    return action


def compared(model: GraphModel) -> GraphOutcome:
    return carry_out(model, toolchain())


def sizes(outcome: GraphOutcome) -> Mapping[str, tuple[int, int]]:
    comparison = outcome.comparison
    return {
        "code": (comparison.code.states, comparison.code.edges),
        "spec": (comparison.spec.states, comparison.spec.edges),
    }
