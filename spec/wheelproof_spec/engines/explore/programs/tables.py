"""Programs that are rows of a table: who does what on a bench, and how it has to look in the end.

A row has a `summary`; `before` is what is done at first, `threads` what each thread does, `idle`
the same of threads that another one starts, `check` what is asked in the end (else `check`), and
`bugs` the known bugs that the program shows. What is done is a method of the bench, with arguments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar, cast

from wheelproof import sync
from wheelproof_spec.base.codec.tables import Row
from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.engines.explore.program import Action, Scenario

_Words = tuple[object, ...]
BugT = TypeVar("BugT", bound=KnownBug)


class Bench:
    """What threads work on; `idle` are those that another one starts."""

    def __init__(self) -> None:
        self.idle: dict[str, sync.Thread] = {}

    def interrupt(self, name: str) -> None:
        """Start an idle thread, and interrupt it."""
        self.idle[name].start()
        self.idle[name].interrupt()


def scenario_of(row: Row, bench: Bench) -> Scenario:
    """Return what the row says that is done on `bench`."""
    for words in cast(Iterable[_Words], row.get("before", ())):
        _action(bench, words)()
    bench.idle = {name: sync.thread(action, name) for name, action in _actions(bench, row, "idle")}
    check: Action = getattr(bench, str(row.get("check", "check")))
    return Scenario(threads=dict(_actions(bench, row, "threads")), check=check)


def shown_in(bugs: Iterable[BugT], table: Mapping[str, Row]) -> Iterator[tuple[BugT, str]]:
    """Yield each bug that a row of the table shows, with the row's name."""
    for bug in bugs:
        for name, row in table.items():
            if bug.id in cast(_Words, row.get("bugs", ())):
                yield bug, name


def _actions(bench: Bench, row: Row, key: str) -> Iterator[tuple[str, Action]]:
    for name, words in cast(Mapping[str, _Words], row.get(key, {})).items():
        yield name, _action(bench, words)


def _action(bench: Bench, words: _Words) -> Action:
    verb, *arguments = words
    method: Callable[..., None] = getattr(bench, str(verb))
    return partial(method, *arguments)
