"""Programs that are rows of a table: who does what on a bench, and how it has to look in the end.

A row has a `summary`; `before` is what is done at first, `threads` what each thread does, which may
be several things, `idle` what threads do that another one starts, `check` what is asked in the end
(else `check`), and `bugs` the known bugs that the program shows. What is done is a method of the
bench, or of what it has, with arguments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations_with_replacement, product
from operator import attrgetter
from typing import TypeVar, cast

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_spec.base.codec.tables import Row, read_table
from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.engines.explore.fields.plain_fields import PlainField
from wheelproof_spec.engines.explore.program import Action, Body, Program, Scenario, Settings

_Words = tuple[object, ...]
KindT = TypeVar("KindT")
WRONG_NUMBERS = (Millis(-1), cast(Millis, "1"), Millis(True))
"""What is no time-out and no size (semantics.md 1.17)."""


class Bench:
    """What threads work on; `idle` are those that another one starts."""

    def __init__(self) -> None:
        self.idle: dict[str, sync.Thread] = {}

    def interrupt(self, name: str) -> None:
        """Start an idle thread, and interrupt it."""
        self.idle[name].start()
        self.idle[name].interrupt()

    @staticmethod
    def refuses(error: type[Exception], *calls: Callable[[], object]) -> None:
        """Raise unless each of the calls ends in this error."""
        for call in calls:
            try:
                call()
            except error:
                continue
            what = call.func if isinstance(call, partial) else call
            name = str(getattr(what, "__qualname__", what))
            raise AssertionError(f"{name} has to end in {error.__name__}, and does not")


def scenario_of(row: Row, bench: Bench) -> Scenario:
    """Return what the row says that is done on `bench`."""
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
    """Return what the table beside `module` has, and a program for each bug that a row shows.

    `build` makes the scenario of a row with what is `sound`, or with what has the bug.
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
    """Return a program for every two operations of a row of ``pairs.toml``, each in a thread.

    Under `each` a row has what any thread may do, by a name; an operation is against itself, too,
    or against what `again` has for it. Under `alone` is what one thread at a time may do: that is
    against each of the others.
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
