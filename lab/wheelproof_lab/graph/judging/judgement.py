"""The failures in the state graph of a program: in a state, at the end, or for ever."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import LeadsTo
from wheelproof_explore.runtime.numbers import TIME
from wheelproof_lab.graph.judging.liveness import Forever, endings, reachable
from wheelproof_lab.graph.states.state_graph import Arc, ProgramGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A failure, a shortest path to it, and the cycle that repeats for ever, if any."""

    sentence: str
    path: Sequence[Arc] = ()
    circle: Sequence[Arc] = ()


def judge(
    graph: ProgramGraph, leads_to: Sequence[LeadsTo], may_wait: frozenset[str]
) -> tuple[Finding, ...]:
    """Return the failures; properties that need the whole graph are not judged in a part of it.

    `leads_to` are the properties for which each state's facts have two bits each; the threads of
    `may_wait` need not end.
    """
    found = [Finding(sentence=what, path=path) for what, path in graph.failure_paths().items()]
    if graph.complete:
        found += [
            Finding(sentence=f"{FailureKind.NEVER.value}: {name} holds in no state")
            for name in sorted(graph.unseen)
        ]
        found += _lost_wakeups(graph)
        found += _endless(graph, may_wait)
        for place, promise in enumerate(leads_to):
            found += _broken_promise(graph, place, promise)
    return tuple(found)


def leads_to_bits(place: int) -> tuple[int, int]:
    """Return the bits of a property in a state's facts: its `when`, its `then`."""
    return 1 << 2 * place, 2 << 2 * place


def _endless(graph: ProgramGraph, may_wait: frozenset[str]) -> list[Finding]:
    """Return the runs that go on for ever although a thread should end."""
    free = graph.bits(lambda number, name: number == TIME or name in may_wait)
    first: dict[tuple[FailureKind, tuple[str, ...]], Forever] = {}
    for forever in endings(graph):
        unfinished = ~graph.ended[forever.states[0]] & ~free
        names = tuple(graph.names(unfinished))
        if forever.steps and names:
            kind = FailureKind.STARVATION if forever.steps & free else FailureKind.LIVELOCK
            first.setdefault((kind, names), forever)
    return [
        _finding(
            graph,
            f"{kind.value}: {_listed(graph.names(forever.steps))} can go on for ever, "
            f"and {_listed(names)} never ends",
            forever,
        )
        for (kind, names), forever in first.items()
    ]


def _lost_wakeups(graph: ProgramGraph) -> list[Finding]:
    found: list[Finding] = []
    for (thread, condition), place in graph.waits.items():
        bit = 1 << graph.first_wait + place
        within = {state for state, facts in enumerate(graph.facts) if facts & bit}
        said = (
            f"{FailureKind.LOST_WAKEUP.value}: {thread} waits on {condition} for ever, "
            "although it should be woken"
        )
        found += _shortest(graph, said, endings(graph, within.__contains__))
    return found


def _broken_promise(graph: ProgramGraph, place: int, promise: LeadsTo) -> list[Finding]:
    when, then = leads_to_bits(place)
    facts = graph.facts
    sources = (
        [0]
        if promise.when is None
        else [state for state, known in enumerate(facts) if known & when]
    )
    within = reachable(graph, sources, lambda state: not facts[state] & then)
    said = f"{FailureKind.NEVER.value}: {promise.name}"
    return _shortest(graph, said, endings(graph, within.__contains__))


def _shortest(graph: ProgramGraph, said: str, some: Iterable[Forever]) -> list[Finding]:
    found = [_finding(graph, said, forever) for forever in some]
    return [min(found, key=lambda finding: len(finding.path))] if found else []


def _finding(graph: ProgramGraph, said: str, forever: Forever) -> Finding:
    path = graph.shortest_path(lambda state: state == forever.states[0])
    return Finding(sentence=said, path=path or (), circle=forever.arcs)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)
