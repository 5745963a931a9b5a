"""Programs that are rows of a table: the actions of each thread on a bench, and a final check."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Concatenate, Generic, Never, ParamSpec, TypeVar, cast

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program import Action, Body, Program, Scenario, Settings, Signal
from wheelproof_lab.bugs.known_bug import KnownBug

P = ParamSpec("P")
BenchT = TypeVar("BenchT", bound="Bench")
BenchT_contra = TypeVar("BenchT_contra", bound="Bench", contravariant=True)
RowT = TypeVar("RowT", bound="ProgramRow[Never]")
KindT = TypeVar("KindT")
WRONG_NUMBERS = (Millis(-1), cast(Millis, "1"), Millis(True))
"""Values that are neither a time-out nor a size (standard 1.17)."""


class Bench:
    """The objects that threads work on; `idle` are the threads that another thread starts.

    `signal` is there in a row that has something for it to end.
    """

    def __init__(self) -> None:
        self.idle: dict[str, sync.Thread] = {}
        self.signal: Signal | None = None

    def place(self) -> str:
        """Return where a signal came; an empty text if none has come."""
        return "" if self.signal is None else self.signal.place

    def interrupt(self, name: str) -> None:
        """Start an idle thread, and interrupt it."""
        self.idle[name].start()
        self.idle[name].interrupt()

    def check(self) -> None:
        """Raise unless the run has ended well; a row may name another check."""
        raise NotImplementedError

    def misuse(self) -> None:
        """Make the calls that have to be refused, and raise unless each of them is.

        A thread does so beside others, whose right calls have to go on as if it were not there.
        """
        raise NotImplementedError

    def state(self) -> object:
        """Return what a refused call may not change."""
        raise NotImplementedError

    def misuse_alone(self) -> None:
        """Do the same while nobody else is there: raise unless it leaves the state as it was."""
        before = self.state()
        self.misuse()
        after = self.state()
        assert before == after, f"refused calls have changed {before} into {after}"

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


@dataclass(frozen=True, slots=True)
class Act(Generic[BenchT_contra]):
    """A method of a bench, with its arguments; make it with `act`."""

    method: Callable[..., object]
    arguments: tuple[object, ...]

    def on(self, bench: BenchT_contra) -> Action:
        """Return the action on `bench`."""
        method = cast(Callable[..., None], self.method)
        return partial(method, bench, *self.arguments)


def act(
    method: Callable[Concatenate[BenchT, P], object], *args: P.args, **kwargs: P.kwargs
) -> Act[BenchT]:
    """Return the act that calls `method` with these arguments, which have no names."""
    assert not kwargs
    return Act(method, args)


Acts = Act[BenchT] | tuple[Act[BenchT], ...]
"""What a thread does: one act, or several of them, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRow(Generic[BenchT_contra]):
    """One program: `before` are acts before the threads start, `threads` what each thread does.

    `idle` is what threads do that another thread starts, `check` the method that checks the end, if
    that is not `check`. `bugs` are the known bugs that the program shows, `fault_bugs` those that
    it shows in an environment of which one call fails.
    """

    summary: str
    before: tuple[Act[BenchT_contra], ...] = ()
    threads: Mapping[str, Acts[BenchT_contra]] = field(
        default_factory=dict[str, Acts[BenchT_contra]]
    )
    idle: Mapping[str, Act[BenchT_contra]] = field(default_factory=dict[str, Act[BenchT_contra]])
    check: Callable[[BenchT_contra], None] | None = None
    bugs: tuple[str, ...] = ()
    fault_bugs: tuple[str, ...] = ()
    spurious_wakeups: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow(ProgramRow[BenchT_contra]):
    """A program with one thread more, whose first act a signal may end at fewer than `places`."""

    signalled: tuple[Act[BenchT_contra], ...]
    places: int


def scenario_of(row: ProgramRow[BenchT], bench: BenchT) -> Scenario:
    """Return the scenario of a row on `bench`."""
    for first in row.before:
        first.on(bench)()
    bench.idle = {name: sync.thread(idle.on(bench), name) for name, idle in row.idle.items()}
    check = bench.check if row.check is None else partial(row.check, bench)
    threads = {name: _body(bench, acts) for name, acts in row.threads.items()}
    return Scenario(threads=threads, check=check)


def signalled_scenario_of(row: SignalRow[BenchT], bench: BenchT) -> Scenario:
    """Return the scenario of a row on `bench`, with the thread that a signal reaches."""
    scenario = scenario_of(row, bench)
    signal = bench.signal = Signal("wheelproof", places=row.places)
    action, *rest = (one.on(bench) for one in row.signalled)
    signalled: Body = [signal.during(action), *rest]
    return replace(scenario, threads={**scenario.threads, "signalled": signalled})


def programs_of(
    rows: Mapping[str, RowT],
    build: Callable[[RowT, KindT], Scenario],
    sound: KindT,
    faulty: Iterable[tuple[KnownBug, KindT]],
    *,
    prefix: str = "",
    plain_fields: Sequence[PlainField] = (),
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return the programs of a table, and a program for each bug of a row.

    `build` makes the scenario of a row with the `sound` implementation, or with a faulty one.
    """
    passing = (
        _program(f"{prefix}{name}", row, partial(build, row, sound), plain_fields)
        for name, row in rows.items()
    )
    failing = (
        _program(f"bug/{bug.id}", row, partial(build, row, kind), plain_fields)
        for bug, kind in faulty
        for row in rows.values()
        if bug.id in row.bugs
    )
    return tuple(passing), tuple(failing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(Generic[RowT, BenchT]):
    """Operations that run against each other, each in a thread, in the world of `row`.

    `each` has operations for any thread, by name; each runs against all of them. Against itself an
    operation runs as `again` has it, if it is there. `alone` has operations that only one thread at
    a time may do; each runs against those of `each`.
    """

    row: RowT
    each: Mapping[str, Act[BenchT]]
    again: Mapping[str, Act[BenchT]] = field(default_factory=dict[str, Act[BenchT]])
    alone: Mapping[str, Act[BenchT]] = field(default_factory=dict[str, Act[BenchT]])

    def __iter__(self) -> Iterator[tuple[str, Act[BenchT], str, Act[BenchT]]]:
        """Return each pair: two operations, and their names."""
        for (one, first), (other, second) in combinations_with_replacement(self.each.items(), 2):
            yield one, first, other, self.again.get(one, second) if one == other else second
        for (one, first), (other, second) in product(self.each.items(), self.alone.items()):
            yield one, first, other, second


def pairs_of(
    table: Mapping[str, Pairs[RowT, BenchT]],
    build: Callable[[RowT, KindT], Scenario],
    kind: KindT,
    *,
    plain_fields: Sequence[PlainField] = (),
) -> tuple[Program, ...]:
    """Return a program for each pair of operations of a table."""
    return tuple(
        Program(
            name=f"pair/{name}/{one}+{other}",
            summary=f"{pairs.row.summary}: {one} against {other}",
            build=partial(
                build,
                replace(pairs.row, threads={one: first, f"the other, {other}": second}),
                kind,
            ),
            plain_fields=plain_fields,
        )
        for name, pairs in table.items()
        for one, first, other, second in pairs
    )


def faults_of(
    rows: Mapping[str, RowT],
    table: Mapping[str, Pairs[RowT, BenchT]],
    build: Callable[[RowT, KindT], Scenario],
    kind: KindT,
    *,
    plain_fields: Sequence[PlainField] = (),
) -> tuple[Program, ...]:
    """Return the programs and the pairs once more, in an environment that fails.

    `build` makes the bench with faults: one call into its environment fails in each run, or none.
    """
    passing, _ = programs_of(rows, build, kind, (), plain_fields=plain_fields)
    pairs = pairs_of(table, build, kind, plain_fields=plain_fields)
    return tuple(replace(program, name=f"fault/{program.name}") for program in (*passing, *pairs))


def signals_of(
    rows: Mapping[str, RowT],
    build: Callable[[RowT, KindT], Scenario],
    kind: KindT,
    *,
    plain_fields: Sequence[PlainField] = (),
) -> tuple[Program, ...]:
    """Return the programs of a table in which a signal may end a call anywhere."""
    passing, _ = programs_of(rows, build, kind, (), prefix="signal/", plain_fields=plain_fields)
    return passing


def failing_with_faults(
    rows: Mapping[str, RowT],
    build: Callable[[RowT, KindT], Scenario],
    faulty: Sequence[tuple[KnownBug, KindT]],
    *,
    plain_fields: Sequence[PlainField] = (),
) -> tuple[Program, ...]:
    """Return a program for each known bug that a row shows in an environment that fails."""
    return tuple(
        _program(f"bug/{bug.id}", row, partial(build, row, kind), plain_fields)
        for bug, kind in faulty
        for row in rows.values()
        if bug.id in row.fault_bugs
    )


def _program(
    name: str,
    row: ProgramRow[BenchT],
    build: Callable[[], Scenario],
    plain_fields: Sequence[PlainField],
) -> Program:
    return Program(
        name=name,
        summary=row.summary,
        build=build,
        settings=Settings(spurious_wakeups=row.spurious_wakeups),
        plain_fields=plain_fields,
    )


def _body(bench: BenchT, acts: Acts[BenchT]) -> Body:
    return [one.on(bench) for one in acts] if isinstance(acts, tuple) else acts.on(bench)
