"""The pytest plugin: the fixture `explore`, which runs a test's threads in every interleaving.

def test_no_update_is_lost(explore: Explore) -> None:
    def two_increments() -> Scenario:
        counter = sync.atomic_integer(0, "counter")

        def check() -> None:
            assert counter.get() == 2

        increment = [discarding(partial(counter.add_and_get, 1))]
        return Scenario(threads={"a": increment, "b": increment}, check=check)

    explore(two_increments)

A failure shows the shrunk run as a table, and its schedule string; `--explore-replay STRING`
repeats that run alone, and `--explore-html FOLDER` writes a page for it. Nothing but pytest is
imported until a test explores.
"""

import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from wheelproof_explore.options import Options
    from wheelproof_explore.program import PlainField, Program, Settings
    from wheelproof_explore.result import Exploration


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("explore", "exploring every interleaving")
    group.addoption(
        "--explore-replay",
        metavar="SCHEDULE",
        help="repeat the run of this schedule string in the program that it belongs to; "
        "other programs are explored as usual",
    )
    group.addoption(
        "--explore-html",
        metavar="FOLDER",
        help="write a page for each program that fails, to step through its run",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a schedule string that cannot belong to any program."""
    schedule = config.getoption("explore_replay")
    if schedule is not None:
        from wheelproof_explore.failures.problems import ScheduleRejectedError
        from wheelproof_explore.runs.schedule import verify

        try:
            verify(schedule)
        except ScheduleRejectedError as error:
            raise pytest.UsageError(f"--explore-replay: {error}") from error


@pytest.fixture(scope="session")
def explore(request: pytest.FixtureRequest) -> "Explore":
    """Return the function that explores a program of the test.

    It keeps nothing from one test to the next, so `@given` may call it for each example.
    """
    return Explore(request.config)


class Explore:
    """The function that runs a program in every interleaving and fails the test if a run fails."""

    def __init__(self, config: pytest.Config) -> None:
        replay: object = config.getoption("explore_replay")
        folder: object = config.getoption("explore_html")
        self._replay = replay if isinstance(replay, str) else None
        self._folder = Path(folder) if isinstance(folder, str) else None

    @property
    def _node(self) -> str:
        """The id of the running test, as pytest reports it."""
        return os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]

    def __call__(
        self,
        build: "Callable[[], object]",
        *,
        instrument: Sequence[str] | None = None,
        accesses: Literal["steps", "races"] = "steps",
        faults: Sequence[str] = (),
        settings: "Settings | None" = None,
        plain_fields: "Sequence[PlainField]" = (),
        replay: str | None = None,
        max_runs: int | None = None,
        samples: int | None = None,
        seed: int = 0,
    ) -> "Exploration":
        """Explore the program that `build` sets up, and return the result.

        `build` returns a Scenario and says so, or is the main thread of a run itself. What your own
        code reads and writes is seen; `instrument` names other packages, and ["none"] sees locks,
        queues and the like alone. Each access is a step, or searched for data races. `faults` are
        calls that fail in some runs. The test fails with the table of the shrunk run if a run
        fails, and if the end is not reached within `max_runs` (None: no bound). `replay` repeats
        the run of a schedule string instead, `samples` draws that many runs with `seed`: both only
        look for failures.
        """
        __tracebackhide__ = True
        from wheelproof_explore.explorer import explore as run
        from wheelproof_explore.failures.problems import ExploreError, missing_extra
        from wheelproof_explore.instrument.loading import home_of, packages_seen
        from wheelproof_explore.patched.environment import whole_names
        from wheelproof_explore.program import DEFAULT_SETTINGS
        from wheelproof_explore.result import INTERRUPTED
        from wheelproof_explore.tasks.plain import threading_program

        name = self._node.rpartition("::")[2]
        seen = packages_seen(build, instrument)
        steps = bool(seen) and accesses == "steps"
        program = threading_program(name, build, seen, steps=steps)
        if program is None:
            pytest.fail(f"{build!r} is no function", pytrace=False)
        program = replace(
            program,
            settings=settings or DEFAULT_SETTINGS,
            plain_fields=plain_fields,
            faults=whole_names(faults, home_of(build)),
        )
        try:
            options = self._options(program, replay, max_runs, samples, seed)
            exploration = run(program, options)
        except ExploreError as error:
            pytest.fail(str(error), pytrace=False)
        except ModuleNotFoundError as error:
            missing = missing_extra(error)
            if missing is None:
                raise
            pytest.fail(str(missing), pytrace=False)
        if exploration.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        self._judge(exploration)
        return exploration

    def _options(
        self,
        program: "Program",
        replay: str | None,
        max_runs: int | None,
        samples: int | None,
        seed: int,
    ) -> "Options":
        from wheelproof_explore.options import Engine, Options
        from wheelproof_explore.runs.schedule import belongs_to

        asked = self._replay
        if asked is not None and belongs_to(program, asked):
            replay = asked
        if replay is not None:
            engine = Engine.REPLAY
        else:
            engine = Engine.OPTIMAL if samples is None else Engine.SAMPLE
        return Options(
            engine=engine,
            schedule=replay or "",
            max_runs=max_runs if samples is None else samples,
            seed=seed,
            record=self._folder is not None,
        )

    def _judge(self, exploration: "Exploration") -> None:
        __tracebackhide__ = True
        from wheelproof_explore.verdicts import Verdict

        found = exploration.counterexample
        if found is None:
            passed = exploration.verdict() is Verdict.PASS
            if not passed and (exploration.engine == "optimal" or exploration.gap):
                remedy = (
                    "; give it a higher bound, or `samples` if a search without end will do"
                    if exploration.stopped
                    else ""
                )
                pytest.fail(f"inconclusive: {exploration.summary()}{remedy}", pytrace=False)
            return
        repeat = f"pytest {shlex.quote(self._node)} --explore-replay {found.schedule}"
        lines = [exploration.summary(), *found.told(repeat)]
        if self._folder is not None:
            lines.append(f"  page: {self._write_page(exploration, self._folder, repeat)}")
        pytest.fail("\n".join(lines), pytrace=False)

    def _write_page(self, exploration: "Exploration", folder: Path, repeat: str) -> Path:
        from wheelproof_explore.page.page import render_exploration

        file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', self._node)}.html"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(render_exploration(exploration, repeat), encoding="utf-8")
        return file
