"""Programs that are rows of a table: the actions of each thread on a bench, and a final check.

A row has a `summary`. `before` are actions before the threads start, `threads` one or several
actions of each thread, `idle` the actions of threads that another thread starts, `check` the method
that checks the end (default: `check`), and `bugs` the known bugs that the program shows. An action
is a method of the bench, or of an attribute of the bench, with arguments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations_with_replacement, product
from operator import attrgetter
from typing import TypeVar, cast

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program import Action, Body, Program, Scenario, Settings
from wheelproof_lab.bugs.known_bug import KnownBug
from wheelproof_spec.base.codec.tables import Row, read_table

_Words = tuple[object, ...]
KindT = TypeVar("KindT")
WRONG_NUMBERS = (Millis(-1), cast(Millis, "1"), Millis(True))
"""Values that are neither a time-out nor a size (semantics.md 1.17)."""


class Bench:
    """The objects that threads work on; `idle` are the threads that another thread starts."""

    def __init__(self) -> None:
        self.idle: dict[str, sync.Thread] = {}

    def interrupt(self, name: str) -> None:
        """Start an idle thread, and interrupt it."""
        self.idle[name].start()
        self.idle[name].interrupt()

    @staticmethod
    def refuses(error: type[Exception], *calls: Callable[[], object]) -> None:
        """Raise AssertionError unless each of the calls raises this error."""
        for call in calls:
            try:
                call()
            except error:
                continue
            what = call.func if isinstance(call, partial) else call
            name = str(getattr(what, "__qualname__", what))
            raise AssertionError(f"{name} has to end in {error.__name__}, and does not")


def scenario_of(row: Row, bench: Bench) -> Scenario:
    """Return the scenario of a row on `bench`."""
    for words in cast(Iterable[_Words], row.get("before", ())):
        _action(bench, words)()
    bench.idle = {
        name: sync.thread(_action(bench, words), name) for name, words in _words(row, "idle")
    }
    check: Action = getattr(bench, str(row.get("check", "check")))
    threads = {name: _body(bench, words) for name, words in _words(row, "threads")}
    return Scenario(threads=threads, check=check)


def programs_of(
    module: str,
    build: Callable[[Row, KindT], Scenario],
    sound: KindT,
    faulty: Iterable[tuple[KnownBug, KindT]],
    *,
    table: str = "programs.toml",
    prefix: str = "",
    plain_fields: Sequence[PlainField] = (),
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return the programs of the table beside `module`, and a program for each bug of a row.

    `build` makes the scenario of a row with the `sound` implementation, or with a faulty one.
    """
    rows = read_table(module, table)

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
        for row in rows.values()
        if bug.id in cast(_Words, row.get("bugs", ()))
    )
    return tuple(made(f"{prefix}{name}", row, sound) for name, row in rows.items()), tuple(failing)


def pairs_of(
    module: str,
    build: Callable[[Row, KindT], Scenario],
    kind: KindT,
    *,
    plain_fields: Sequence[PlainField] = (),
) -> tuple[Program, ...]:
    """Return a program for each pair of operations of a row of ``pairs.toml``, each in a thread.

    `each` has operations for any thread, by name; each runs against all of them. Against itself an
    operation runs as `again` has it, if it is there. `alone` has operations that only one thread at
    a time may do; each runs against those of `each`.
    """

    def pairs(row: Row) -> Iterator[tuple[str, _Words, str, _Words]]:
        each, again = [*_words(row, "each")], dict(_words(row, "again"))
        for (one, first), (other, second) in combinations_with_replacement(each, 2):
            yield one, first, other, again.get(one, second) if one == other else second
        for (one, first), (other, second) in product(each, _words(row, "alone")):
            yield one, first, other, second

    return tuple(
        Program(
            name=f"pair/{name}/{one}+{other}",
            summary=f"{row['summary']}: {one} against {other}",
            build=partial(
                build, {**row, "threads": {one: first, f"the other, {other}": second}}, kind
            ),
            plain_fields=plain_fields,
        )
        for name, row in read_table(module, "pairs.toml").items()
        for one, first, other, second in pairs(row)
    )


def _words(row: Row, key: str) -> Iterable[tuple[str, _Words]]:
    return cast(Mapping[str, _Words], row.get(key, {})).items()


def _body(bench: Bench, words: _Words) -> Body:
    if isinstance(words[0], tuple):
        return [_action(bench, call) for call in cast(Iterable[_Words], words)]
    return _action(bench, words)


def _action(bench: Bench, words: _Words) -> Action:
    verb, *arguments = words
    method: Callable[..., None] = attrgetter(str(verb))(bench)
    return partial(method, *arguments)
