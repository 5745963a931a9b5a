"""The parts of a comparison of code and module, and how it is carried out."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Generic, Protocol, TypeVar

from wheelproof_lab.graph.comparing.compare import Comparison, compare
from wheelproof_lab.graph.comparing.driven import UnderWay, call_by_call, step_by_step
from wheelproof_lab.graph.comparing.projected import (
    Labeller,
    ProjectedGraph,
    Projection,
    project_program,
    project_tlc,
)
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration, tlc_graph
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.graph.states.views import GraphProgram
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.states.graph import StateGraph
from wheelproof_spec.tlc.states.values import State, Value

Progress = Callable[[int], None]
"""A function that gets the number of states of the code, at intervals."""

SpecOf = Callable[[Toolchain, TlcConfiguration], StateGraph]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSide:
    """The graph of the code; `failures` are the failures in it, each with a path to it."""

    graph: ProjectedGraph
    complete: bool = True
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphModel:
    """A configuration for which code and module must have the same graph.

    Unless `still_steps`, a step that changes no visible variable is no action on either side. With
    `under_way`, a call that the module has begun is finished before the states are compared.
    """

    name: str
    summary: str
    code: Callable[[Progress | None], CodeSide]
    configuration: TlcConfiguration
    project: Projection
    label: Labeller
    still_steps: bool = True
    under_way: UnderWay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOutcome:
    """The outcome of a comparison, and the seconds that each side took."""

    model: GraphModel
    comparison: Comparison
    failures: tuple[str, ...]
    complete: bool
    code_seconds: float
    tlc_seconds: float

    @property
    def verdict(self) -> Verdict:
        """PASS if equal; a search that a bound ended cannot pass."""
        if not self.complete:
            return Verdict.INCONCLUSIVE
        return Verdict.PASS if self.comparison.equal and not self.failures else Verdict.FAIL


class Configuration(Protocol):
    """Values of the constants of a module, and the work that the code has to do."""

    def constants(self) -> Mapping[str, Value]:
        """Return the constants of the module."""
        ...


ConfigT = TypeVar("ConfigT", bound=Configuration)


def _as_it_is(state: State) -> State:
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Generic[ConfigT]):
    """A module and the code that it describes, for every configuration.

    The code is a program, or a graph that was found by other means. `project_with` is for a
    projection that depends on the configuration. The other fields are those of `TlcConfiguration`
    and `GraphModel`.
    """

    module: str
    code: Callable[[ConfigT], GraphProgram | ProjectedGraph]
    label: Labeller
    project: Projection = _as_it_is
    project_with: Callable[[ConfigT], Projection] | None = None
    specification: str = "Spec"
    overrides: Mapping[str, str] | None = None
    still_steps: bool = True
    under_way: UnderWay | None = None

    def model(
        self,
        configuration: ConfigT,
        code: Callable[[], GraphProgram | ProjectedGraph] | None = None,
        name: str = "",
        summary: str = "",
    ) -> GraphModel:
        """Return the comparison for a configuration, with other code if it is given."""
        return GraphModel(
            name=name,
            summary=summary,
            code=partial(_code_side, code or partial(self.code, configuration)),
            configuration=TlcConfiguration(
                module=self.module,
                constants=configuration.constants(),
                specification=self.specification,
                overrides=self.overrides,
            ),
            project=self.project_with(configuration) if self.project_with else self.project,
            label=self.label,
            still_steps=self.still_steps,
            under_way=self.under_way,
        )


def _code_side(
    make: Callable[[], GraphProgram | ProjectedGraph], progress: Progress | None
) -> CodeSide:
    made = make()
    return program_side(made)(progress) if isinstance(made, GraphProgram) else CodeSide(graph=made)


def program_side(
    program: GraphProgram, max_states: int | None = None
) -> Callable[[Progress | None], CodeSide]:
    """Return the code's side of a program that runs under the controlled runtime."""

    def explore(progress: Progress | None) -> CodeSide:
        graph = explore_graph(program, max_states=max_states, progress=progress)
        if graph.interrupted:
            raise KeyboardInterrupt
        failures = tuple(
            f"{what}, after: {', '.join(arc.text for arc in path)}"
            for what, path in graph.failure_paths().items()
        )
        steps = step_by_step(project_program(graph))
        return CodeSide(graph=steps, complete=graph.complete, failures=failures)

    return explore


def carry_out(
    model: GraphModel,
    toolchain: Toolchain,
    progress: Progress | None = None,
    spec_of: SpecOf = tlc_graph,
) -> GraphOutcome:
    """Explore both sides and compare them; `spec_of` returns the graph of the module.

    Raises ProgramRejectedError, MissingToolError, TlcGraphError.
    """
    begin = time.monotonic()
    code = model.code(progress)
    middle = time.monotonic()
    states = spec_of(toolchain, model.configuration)
    if model.under_way is not None:
        states = call_by_call(states, model.under_way)
    spec = project_tlc(states, model.project, model.label)
    end = time.monotonic()
    return GraphOutcome(
        model=model,
        comparison=(
            compare(code.graph, spec)
            if model.still_steps
            else compare(code.graph.without_still_steps(), spec.without_still_steps())
        ),
        failures=code.failures,
        complete=code.complete,
        code_seconds=middle - begin,
        tlc_seconds=end - middle,
    )


def select(models: tuple[GraphModel, ...], patterns: list[str]) -> list[GraphModel]:
    """Return the models that names or patterns select; raises UsageError if one selects none."""
    for pattern in patterns:
        if not any(fnmatchcase(model.name, pattern) for model in models):
            names = ", ".join(model.name for model in models)
            raise UsageError(f"no graph model {pattern!r}; there are: {names}")
    return [
        model for model in models if any(fnmatchcase(model.name, pattern) for pattern in patterns)
    ]
