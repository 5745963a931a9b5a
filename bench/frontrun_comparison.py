"""The comparison of the model checker with frontrun, on programs that both can express.

Each program is written twice: against `wheelproof.sync`, and with `threading` and plain attributes,
which frontrun traces. Both tools explore everything, or stop at the first failure. frontrun runs in
its own process, since it has to prepare it. Our explorer runs each class once, so if frontrun has
fewer executions, it misses classes. Rates use processor time and are judged only with enough
executions. Which tool finds a first failure earlier is luck: it is shown and not judged.
frontrun is not a dependency: `pip install --group bench` installs it.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from instruments.section import Section, times
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program
from wheelproof_lab.worlds.classics import (
    increments,
    last_zero,
    locked_increments,
    philosophers,
    readers,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.waiting import event

TIMES_FASTER = 10
_ENOUGH_FOR_A_RATE = 100

_FRONTRUN = Path(sys.executable).with_name("frontrun")
_SIDE = Path(__file__).with_name("frontrun_programs.py")
_PASSING: dict[str, Program] = {
    one.name: one
    for one in (
        program("increments 2", partial(increments, 2)),
        program("increments 3", partial(increments, 3)),
        program("increments 4", partial(increments, 4)),
        program("locked increments 3", partial(locked_increments, 3)),
        program("locked increments 6", partial(locked_increments, 6)),
        program("readers 8", partial(readers, 8)),
        program("last zero 4", partial(last_zero, 4)),
        program("philosophers 5, ordered", partial(philosophers, 5, ordered=True)),
    )
}
_FAILING: dict[str, Program] = {
    one.name: one
    for one in (
        program("philosophers 3", partial(philosophers, 3, ordered=False)),
        program("event tested early", partial(event, mended=False)),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The result of one tool: executions, seconds of processor time, whether it found a failure."""

    executions: int
    seconds: float
    found: bool

    @property
    def rate(self) -> float:
        """Executions a second."""
        return self.executions / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One program run with both tools; `fails` tells whether it has a failure to find."""

    name: str
    fails: bool
    ours: Side
    theirs: Side

    @property
    def ratio(self) -> float:
        """Our executions a second, divided by frontrun's."""
        return self.ours.rate / self.theirs.rate

    def row(self) -> tuple[str, ...]:
        """Return the comparison as a row of a table."""
        rates = (f"{self.ours.rate:,.0f}", f"{self.theirs.rate:,.0f}", times(self.ratio))
        executions = (f"{self.ours.executions:,}", f"{self.theirs.executions:,}")
        return (self.name, *executions, *(rates if self.has_rate() else "   "), self.verdict())

    def has_rate(self) -> bool:
        """Tell whether both sides ran often enough for a rate."""
        fewest = min(self.ours.executions, self.theirs.executions)
        return not self.fails and fewest >= _ENOUGH_FOR_A_RATE

    def verdict(self) -> str:
        """Return what frontrun missed, in words."""
        if self.fails:
            return "found" if self.theirs.found else "missed by frontrun"
        missed = self.ours.executions - self.theirs.executions
        return f"frontrun misses {missed:,} classes at least" if missed > 0 else ""

    def shortcomings(self) -> list[str]:
        """Return the promises that were not kept, in words."""
        said: list[str] = []
        if self.has_rate() and self.ratio < TIMES_FASTER:
            said.append(f"{self.name}: less than {TIMES_FASTER} times the executions a second")
        if self.ours.found != self.fails:
            said.append(f"{self.name}: the wrong answer")
        return said


def compare() -> list[Comparison] | None:
    """Run all programs with both tools; return None if frontrun is not installed."""
    if not _FRONTRUN.exists():
        return None
    theirs = _theirs()
    return [
        Comparison(
            name=name,
            fails=name in _FAILING,
            ours=_ours(one, to_the_end=name in _PASSING),
            theirs=theirs[name],
        )
        for name, one in {**_PASSING, **_FAILING}.items()
    ]


def _ours(one: Program, *, to_the_end: bool) -> Side:
    # The first exploration of a process pays for imports and warm-up.
    explore(one, Options(max_runs=1))
    begin = time.process_time()
    found = explore(one, Options(keep_going=to_the_end))
    seconds = time.process_time() - begin
    return Side(executions=found.runs, seconds=seconds, found=found.failing_runs > 0)


def _theirs() -> dict[str, Side]:
    done = subprocess.run(
        [str(_FRONTRUN), sys.executable, str(_SIDE)], stdout=subprocess.PIPE, text=True, check=True
    )
    printed: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return {
        name: Side(
            executions=max(int(side["executions"]), 1),
            seconds=side["seconds"],
            found=bool(side["found"]),
        )
        for name, side in printed.items()
    }


def beside_frontrun() -> Section:
    """Compare both tools; it is not a failure if frontrun is missing."""
    comparisons = compare()
    absent = "frontrun is not installed, so nothing is compared: pip install --group bench"
    return Section(
        title="Beside frontrun",
        claim=f"At least {TIMES_FASTER} times the executions a second, and no class missed.",
        head=("program", "ours", "frontrun", "ours a second", "frontrun", "ratio", "found"),
        rows=tuple(one.row() for one in comparisons or ()),
        notes=() if comparisons is not None else (absent,),
        missed=tuple(said for one in comparisons or () for said in one.shortcomings()),
    )
