"""The one door to the laboratory, which a clone has and an installed package has not.

Verbs of users need a little of it: known bugs to fuzz, programs that have names, the judge of
traces. Whatever they ask for, the answer of an installed package is how to get a clone.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from wheelproof_explore.command import Explored
from wheelproof_explore.program import Program
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.history.judging import MakeTraceChecker

if TYPE_CHECKING:
    from wheelproof_spec.history.routing import FileResult

_DOOR = "wheelproof_lab.door"


class Laboratory(Protocol):
    """What verbs of users take from the laboratory."""

    def bugs(self) -> Mapping[str, str]:
        """Return the component of each known bug, by its id."""
        ...

    def variant_of(self, component: str, bug: str) -> object:
        """Return what `Machine.reports` takes of a known bug; raises UsageError for another id."""
        ...

    def threads_that_find(self, bug: str) -> tuple[str, ...]:
        """Return the kinds of threads of `fuzz` that find a bug; raises UsageError for no bug."""
        ...

    def program(self, name: str) -> Program:
        """Return the program of this name; raises UsageError if there is none."""
        ...

    def programs(self) -> Mapping[str, Sequence[Program]]:
        """Return all programs, by what they must do: "pass", "fail", and so on."""
        ...

    def explore_states(
        self,
        program: Program,
        substrate: SubstrateKind,
        max_states: int | None,
        tell: Callable[[int], None],
    ) -> Explored:
        """Visit every state of a program; `tell` gets their number at intervals."""
        ...

    def trace_checker(self, component: str) -> MakeTraceChecker | None:
        """Return the class that replays a trace of a component, or None if there is none."""
        ...

    def ask_tlc(
        self,
        files: Sequence[Path],
        results: "Sequence[FileResult]",
        *,
        jar: Path | None,
        java: Path | None,
    ) -> None:
        """Put TLC's opinion of each trace into the results."""
        ...


def laboratory(what: str) -> Laboratory:
    """Return the laboratory; raises MissingToolError, which names `what` is asked of it."""
    try:
        door = importlib.import_module(_DOOR)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != _DOOR.partition(".")[0]:
            raise
        remedy = (
            "ask whoever gave you this package for the repository, since it has no public address "
            "yet; type `make setup` in it, and use its .venv/bin/wheelproof"
        )
        raise MissingToolError(f"{what} is in the laboratory of a clone, which", remedy) from None
    return cast(Laboratory, vars(door)["LABORATORY"])
