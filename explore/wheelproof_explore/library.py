"""The model checker as a library: `from wheelproof_explore import check, every_interleaving`.

@every_interleaving
def test_two_threads_count_to_two() -> None:
    counter = Counter()
    threads = [threading.Thread(target=counter.add) for _ in range(2)]
    ...
    assert counter.value == 2

The given function is the main thread of a run, with `threading` patched, or it returns a Scenario.
A failure raises an InterleavingError with the shrunk run. It is repeated by
`WHEELPROOF_REPLAY=STRING` before the command, or by a line of Python that the error shows.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from enum import Enum
from functools import partial, wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, cast, overload

from wheelproof_explore.explorer import explore as run
from wheelproof_explore.instrument.loading import home_of, packages_seen
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.patched.environment import whole_names
from wheelproof_explore.program import DEFAULT_SETTINGS, Program, Scenario, Settings, TimeMode
from wheelproof_explore.program.program import name_of
from wheelproof_explore.result import Exploration
from wheelproof_explore.runs.schedule import belongs_to
from wheelproof_explore.strategies.drawn import DrawnStrategy
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

__all__ = [
    "InterleavingError",
    "Program",
    "Scenario",
    "Settings",
    "TimeMode",
    "check",
    "check_drawn",
    "every_interleaving",
    "explore",
]

Accesses = Literal["steps", "races"]
"""What each access of shared state is: a step, or one of two that may race."""
_OF_PROGRAM = frozenset(("accesses", "faults", "instrument", "settings"))
"""The options that say what a run is; the others say which runs are made."""
REPLAY = "WHEELPROOF_REPLAY"
"""The environment variable with a schedule string to repeat, for the program it belongs to."""

CHECK_DRAWN = "execute:check_drawn"
"""What the statistics of Hypothesis call the time of the runs."""
_P = ParamSpec("_P")


class InterleavingError(AssertionError):
    """A run failed, or not every one could be made; `exploration` says all that is known.

    `given` and `options` are what `explore` was called with; from them is the line that repeats it.
    """

    def __init__(
        self, exploration: Exploration, given: Callable[[], object], options: Mapping[str, object]
    ) -> None:
        self.exploration = exploration
        found = exploration.counterexample
        lines = [exploration.summary() if found else f"inconclusive: {exploration.summary()}"]
        if found is not None:
            lines += found.told(f"{REPLAY}={found.schedule} before the same command")
            kept = {name: value for name, value in options.items() if name in _OF_PROGRAM}
            call = _call("explore", given, replay=found.schedule, **kept)
            lines.append(f"  in Python: {call}")
        super().__init__("\n".join(lines))


def _call(function: str, *given: object, **named: object) -> str:
    """Return a call as Python has it."""
    values = [*map(_text, given), *(f"{name}={_text(value)}" for name, value in named.items())]
    return f"{function}({', '.join(values)})"


def _text(value: object) -> str:
    """Return a value as Python has it: a function by its name, settings by what was changed."""
    if isinstance(value, partial):
        called = cast("partial[object]", value)
        return _call("partial", called.func, *called.args, **called.keywords)
    if isinstance(value, Settings):
        given = {one.name: getattr(value, one.name) for one in fields(value)}
        changed = {k: v for k, v in given.items() if v != getattr(DEFAULT_SETTINGS, k)}
        return _call("Settings", **changed)
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    name = str(getattr(value, "__qualname__", repr(value))).rpartition("<locals>.")[2]
    return "lambda: ..." if name == "<lambda>" else name


def explore(
    given: Callable[[], object],
    *,
    instrument: Sequence[str] | None = None,
    accesses: Accesses = "steps",
    faults: Sequence[str] = (),
    settings: Settings = DEFAULT_SETTINGS,
    replay: str | None = None,
    max_runs: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    record: bool = False,
) -> Exploration:
    """Run `given` in every interleaving, and return what was found.

    What your own code reads and writes is seen: all modules that are loaded and not installed, or
    the packages that `instrument` names; ["none"] sees locks, queues and the like alone. Each such
    access is a step, or with `accesses="races"` searched for data races. `faults` are calls that
    fail in some runs, as "function", "module:Class.method=OSError" or "KeyboardInterrupt"; see
    docs/explore.md. `samples` draws that many runs with `seed` instead, `replay` repeats one; see
    `Options`. Raises ProgramRejectedError, and OptionRejectedError for what cannot fail.
    """
    program = _program(given, instrument, settings, accesses, faults)
    asked = os.environ.get(REPLAY)
    if asked is not None and belongs_to(program, asked):
        replay = asked
    engine = Engine.OPTIMAL if samples is None else Engine.SAMPLE
    return run(
        program,
        Options(
            engine=engine if replay is None else Engine.REPLAY,
            schedule=replay or "",
            max_runs=max_runs if samples is None else samples,
            seed=seed,
            jobs=jobs if replay is None else 1,
            record=record,
        ),
    )


def check(given: Callable[[], object], **options: object) -> Exploration:
    """Explore as `explore` does; raises InterleavingError unless every run passes.

    Runs that are sampled or repeated have only to show no failure.
    """
    __tracebackhide__ = True
    explored: Callable[..., Exploration] = explore
    exploration = explored(given, **options)
    partly = exploration.engine != Engine.OPTIMAL and not exploration.gap
    if exploration.counterexample or not (partly or exploration.verdict() is Verdict.PASS):
        raise InterleavingError(exploration, given, options)
    return exploration


@overload
def every_interleaving(given: Callable[_P, object], /) -> Callable[_P, None]: ...


@overload
def every_interleaving(
    **options: object,
) -> Callable[[Callable[_P, object]], Callable[_P, None]]: ...


def every_interleaving(
    given: Callable[_P, object] | None = None, /, **options: object
) -> Callable[_P, None] | Callable[[Callable[_P, object]], Callable[_P, None]]:
    """Make of a function one that runs it in every interleaving; a decorator for tests.

    `@every_interleaving(max_runs=1_000)` has the options of `check`. What the function is given,
    by fixtures or parameters of pytest, is brought back to its state before each run.
    """

    def decorated(function: Callable[_P, object]) -> Callable[_P, None]:
        @wraps(function)
        def explored(*values: _P.args, **named: _P.kwargs) -> None:
            __tracebackhide__ = True
            check(partial(function, *values, **named) if values or named else function, **options)

        return explored

    return decorated if given is None else decorated(given)


def check_drawn(
    given: Callable[[], object], data: "DataObject", *, instrument: Sequence[str] | None = None
) -> Exploration:
    """Make one run, of which Hypothesis draws the schedule; raises InterleavingError if it fails.

    @given(st.data(), st.lists(st.integers()))
    def test(data: st.DataObject, calls: list[int]) -> None:
        check_drawn(lambda: two_threads_with(calls), data)

    The calls and the schedule are drawn and shrunk together: 0 keeps the running thread running.
    Hypothesis does not count the time of the run for its deadline.
    """
    __tracebackhide__ = True
    from hypothesis import strategies as st

    def draw(choices: int) -> int:
        return data.draw(st.integers(0, choices - 1))

    program = _program(given, instrument, DEFAULT_SETTINGS, "steps")
    with _unexplained(), _untimed(data):
        exploration = run(program, Options(strategy=DrawnStrategy(draw), shrink=False))
    if exploration.counterexample is not None:
        raise InterleavingError(exploration, given, {"instrument": instrument})
    return exploration


@contextmanager
def _untimed(data: "DataObject") -> Generator[None]:
    """Keep the time inside the block from counting for the deadline of a Hypothesis test.

    The first example rewrites the code under test and takes long; the next ones do not. Hypothesis
    would call that flaky. It leaves the time of the rules of its state machines out, by this table.
    """
    conjecture = data.conjecture_data
    left_out: dict[str, float] = getattr(conjecture, "_stateful_run_times", {})
    begin, drawn = time.perf_counter(), sum(conjecture.draw_times.values())
    try:
        yield
    finally:
        drawn = sum(conjecture.draw_times.values()) - drawn
        spent = time.perf_counter() - begin - drawn
        left_out[CHECK_DRAWN] = left_out.get(CHECK_DRAWN, 0.0) + spent


@contextmanager
def _unexplained() -> Generator[None]:
    """Keep Hypothesis from tracing each line of the model checker, to explain a failure by it."""
    tracer = sys.gettrace()
    of = type(getattr(tracer, "__self__", None)).__module__
    if not of.startswith("hypothesis."):
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def _program(
    given: Callable[[], object],
    instrument: Sequence[str] | None,
    settings: Settings,
    accesses: Accesses,
    faults: Sequence[str] = (),
) -> Program:
    seen = packages_seen(given, instrument)
    program = threading_program(
        name_of(given), given, seen, steps=bool(seen) and accesses == "steps"
    )
    assert program is not None, "a function is a program"
    return replace(program, settings=settings, faults=whole_names(faults, home_of(given)))
