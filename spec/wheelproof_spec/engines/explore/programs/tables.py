"""Programs that are rows of a table: who does what on a bench, and how it has to look in the end.

A row has a `summary`; `before` is what is done at first, `threads` what each thread does, `idle`
the same of threads that another one starts, `check` what is asked in the end (else `check`), and
`bugs` the known bugs that the program shows. What is done is a method of the bench, with arguments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar, cast

from wheelproof import sync
from wheelproof_spec.base.codec.tables import Row, read_table
from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.engines.explore.fields.plain_fields import PlainField
from wheelproof_spec.engines.explore.program import Action, Program, Scenario, Settings

_Words = tuple[object, ...]
KindT = TypeVar("KindT")


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


def programs_of(
    module: str,
    build: Callable[[Row, KindT], Scenario],
    sound: KindT,
    faulty: Iterable[tuple[KnownBug, KindT]],
    *,
    prefix: str = "",
    plain_fields: Sequence[PlainField] = (),
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return what programs.toml beside `module` has, and a program for each bug that a row shows.

    `build` makes the scenario of a row with what is `sound`, or with what has the bug.
    """
    table = read_table(module, "programs.toml")

    def made(name: str, row: Row, kind: KindT) -> Program:
        return Program(
            name=name,
            summary=str(row["summary"]),
            build=partial(build, row, kind),
            settings=Settings(spurious_wakeups=cast(int, row.get("spurious_wakeups", 0))),
            plain_fields=plain_fields,
        )

    failing = (
        made(f"bug/{bug.id}", row, kind)
        for bug, kind in faulty
        for row in table.values()
        if bug.id in cast(_Words, row.get("bugs", ()))
    )
    return tuple(made(f"{prefix}{name}", row, sound) for name, row in table.items()), tuple(failing)


def _actions(bench: Bench, row: Row, key: str) -> Iterator[tuple[str, Action]]:
    for name, words in cast(Mapping[str, _Words], row.get(key, {})).items():
        yield name, _action(bench, words)


def _action(bench: Bench, words: _Words) -> Action:
    verb, *arguments = words
    method: Callable[..., None] = getattr(bench, str(verb))
    return partial(method, *arguments)
