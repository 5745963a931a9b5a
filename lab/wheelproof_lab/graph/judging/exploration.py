"""A user's program in graph mode: every reachable state, and every infinite run."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.program import (
    Invariant,
    LeadsTo,
    PlainField,
    Predicate,
    Program,
    raises_if_wrong,
)
from wheelproof_explore.result import INTERRUPTED
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.graph.judging.judgement import Finding, judge
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.graph.states.views import GraphProgram, View, ViewedRun

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExploration:
    """The result of an exploration; `stopped` is why the search ended early, None if it did not."""

    program: str
    program_digest: str
    states: int
    edges: int
    seconds: float
    stopped: str | None
    findings: Sequence[Finding]

    def verdict(self) -> Verdict:
        """Return the verdict: only the whole graph can pass."""
        if self.findings:
            return Verdict.FAIL
        return Verdict.PASS if self.stopped is None else Verdict.INCONCLUSIVE

    def summary(self) -> str:
        """Return the result in one sentence."""
        rate = f", {self.edges / self.seconds:,.0f} edges/s" if self.seconds else ""
        size = f"{self.states:,} states, {self.edges:,} edges{rate}"
        if self.findings:
            return f"{self.findings[0].sentence} ({size})"
        if self.stopped is not None:
            return f"{self.stopped}, no failure so far ({size})"
        return f"all {size}"

    def details(self) -> str:
        """Return the findings, each with a shortest path to it."""
        lines: list[str] = []
        for finding in self.findings[:_SHOWN]:
            lines += _lines(finding)
        if len(self.findings) > _SHOWN:
            lines.append(f"  and {len(self.findings) - _SHOWN} more; --json has them all")
        if lines:
            lines.append(f"  repeat: wheelproof explore {self.program} --engine graph")
        return "\n".join(lines)

    def document(self) -> dict[str, object]:
        """Return the result as JSON values."""
        return {
            "schema": "wheelproof.graph-exploration/1",
            "program": self.program,
            "program_digest": self.program_digest,
            "engine": "graph",
            "verdict": self.verdict().value,
            "summary": self.summary(),
            "states": self.states,
            "edges": self.edges,
            "seconds": round(self.seconds, 3),
            "stopped": self.stopped,
            "findings": [
                {
                    "sentence": finding.sentence,
                    "path": [arc.text for arc in finding.path],
                    "circle": [arc.text for arc in finding.circle],
                }
                for finding in self.findings
            ],
        }


def explore_states(
    program: Program,
    *,
    substrate: SubstrateKind = SubstrateKind.GREENLET,
    max_states: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> GraphExploration:
    """Explore every state of `program`, or `max_states` of them.

    `progress` is called with the number of states at intervals. Raises ProgramRejectedError for
    what cannot be explored. Ctrl-C ends the search early.
    """
    begin = time.monotonic()
    promises: list[LeadsTo] = []
    graph = explore_graph(
        graph_program(program, promises),
        substrate=substrate,
        max_states=max_states,
        progress=progress,
    )
    stopped = None
    if not graph.complete:
        stopped = INTERRUPTED if graph.interrupted else "the bound on states was reached"
    elif graph.gap:
        stopped = graph.gap
    return GraphExploration(
        program=program.name,
        program_digest=program.digest(),
        states=len(graph.observations),
        edges=graph.edge_count(),
        seconds=time.monotonic() - begin,
        stopped=stopped,
        findings=judge(graph, promises, program.settings.may_wait),
    )


def graph_program(program: Program, promises: list[LeadsTo]) -> GraphProgram:
    """Return a program for graph mode; each build puts its `leads_to` into `promises`."""

    def build() -> ViewedRun:
        scenario = program.build()
        if scenario.history is not None:
            raise ProgramRejectedError(
                program.name,
                "has a history of public operations, which graph mode cannot judge",
                "explore it with --engine optimal",
            )
        promises[:] = scenario.leads_to
        return ViewedRun(
            scenario=replace(scenario, invariants=()),
            view=View(),
            invariants={invariant.name: _holding(invariant) for invariant in scenario.invariants},
            sometimes=scenario.sometimes,
            facts=[
                fact for promise in promises for fact in (promise.when or _always, promise.then)
            ],
            wakes=scenario.wakes,
        )

    fields = [
        *program.plain_fields,
        *(shared for shared in program.shares if isinstance(shared, PlainField)),
    ]
    return GraphProgram(
        name=program.name,
        build=build,
        watched=[shared for shared in program.shares if not isinstance(shared, PlainField)],
        watched_fields=[(watched.owner, watched.name) for watched in fields],
        settings=program.settings,
    )


def _holding(invariant: Invariant) -> Predicate:
    def holds() -> bool:
        try:
            raises_if_wrong(invariant.look)
        except AssertionError:
            return False
        return True

    return holds


def _always() -> bool:
    return True


def _lines(finding: Finding) -> list[str]:
    lines = [f"  {finding.sentence}", f"    after {len(finding.path)} steps:"]
    lines += [f"      {number:3}  {arc.text}" for number, arc in enumerate(finding.path, start=1)]
    if finding.circle:
        lines.append(f"    and then these {len(finding.circle)} for ever:")
        lines += [f"           {arc.text}" for arc in finding.circle]
    return lines
