"""What verbs of users take from the laboratory: `wheelproof_spec.app.laboratory` says what."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wheelproof_explore.command import Explored
from wheelproof_explore.program import Program
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_lab.bugs.catalog import bugs, variant_of
from wheelproof_lab.bugs.known_bug import Finder, find_bug
from wheelproof_spec.app.laboratory import Laboratory
from wheelproof_spec.base.history.judging import MakeTraceChecker
from wheelproof_spec.history.routing import FileResult

_THREADS_OF_FINDER = {Finder.SEQUENTIAL: ("none",), Finder.THREADS: ("real",)}


class _Laboratory:
    """Imports what is asked for when it is asked for."""

    def bugs(self) -> Mapping[str, str]:
        return {bug.id: bug.component for bug in bugs()}

    def variant_of(self, component: str, bug: str) -> object:
        return variant_of(component, bug)

    def threads_that_find(self, bug: str) -> tuple[str, ...]:
        finders = find_bug(bugs(), bug).finders
        return tuple(kind for finder in finders for kind in _THREADS_OF_FINDER.get(finder, ()))

    def program(self, name: str) -> Program:
        from wheelproof_lab.worlds.all_programs import find_program

        return find_program(name)

    def programs(self) -> Mapping[str, Sequence[Program]]:
        from wheelproof_lab.worlds.all_programs import BY_DUTY

        return BY_DUTY

    def explore_states(
        self,
        program: Program,
        substrate: SubstrateKind,
        max_states: int | None,
        tell: Callable[[int], None],
    ) -> Explored:
        from wheelproof_lab.graph.judging.exploration import explore_states

        return explore_states(program, substrate=substrate, max_states=max_states, progress=tell)

    def trace_checker(self, component: str) -> MakeTraceChecker | None:
        from wheelproof_lab.trace.run import TraceChecker

        return TraceChecker if component == "timer" else None

    def ask_tlc(
        self,
        files: Sequence[Path],
        results: Sequence[FileResult],
        *,
        jar: Path | None,
        java: Path | None,
    ) -> None:
        from wheelproof_lab.trace.second_opinion import ask_tlc

        ask_tlc(files, results, jar=jar, java=java)


LABORATORY: Laboratory = _Laboratory()
