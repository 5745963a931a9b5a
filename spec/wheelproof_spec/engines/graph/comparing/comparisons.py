"""What a comparison of code and module consists of, and how it is carried out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from wheelproof_spec.base.codec.tables import Row
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.engines.graph.comparing.compare import Comparison, compare
from wheelproof_spec.engines.graph.comparing.driven import UnderWay, call_by_call
from wheelproof_spec.engines.graph.comparing.projected import (
    Labeller,
    ProjectedGraph,
    Projection,
    project_program,
    project_tlc,
)
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration, tlc_graph
from wheelproof_spec.engines.graph.states.engine import explore_graph
from wheelproof_spec.engines.graph.states.views import GraphProgram
from wheelproof_spec.engines.tlc.running.launch import Toolchain
from wheelproof_spec.engines.tlc.states.graph import StateGraph

Progress = Callable[[int], None]
"""Called with the number of states of the code now and then."""

SpecOf = Callable[[Toolchain, TlcConfiguration], StateGraph]

ConfigT = TypeVar("ConfigT")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSide:
    """The graph of the code; `failures` are what went wrong in it, each with a way to it."""

    graph: ProjectedGraph
    complete: bool = True
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphModel:
    """A configuration for which code and module must have the same graph.

    Unless `still_steps`, a step that changes nothing that can be seen is no action on either side.
    With `under_way`, what the module has begun is finished before it is compared.
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
    """How a comparison ended, and how many seconds each side took."""

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


def model_of(
    name: str,
    row: Row,
    make: Callable[[str, str, ConfigT], GraphModel],
    configuration: Callable[..., ConfigT],
) -> GraphModel:
    """Return the comparison that a row of a table stands for: a summary, and a configuration."""
    given = {key: value for key, value in row.items() if key not in ("of", "summary")}
    return make(name, str(row["summary"]), configuration(**given))


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
        return CodeSide(graph=project_program(graph), complete=graph.complete, failures=failures)

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
