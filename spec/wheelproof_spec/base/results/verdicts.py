"""Verdicts and exit codes: all ways in which a check can end."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto


class Verdict(StrEnum):
    """How a check ended."""

    PASS = auto()
    FAIL = auto()
    INCONCLUSIVE = auto()
    ERROR = auto()


class ExitCode(IntEnum):
    """Exit codes of the program ``wheelproof``: a fail is exactly 1, which no crash returns.

    INTERNAL_ERROR is the program's own failure: a check that could not be made, an output that
    could not be written, or a defect of the program.
    """

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3
    INPUT_REJECTED = 4
    INTERNAL_ERROR = 5
    INTERRUPTED = 130


_EXIT_CODES = {
    Verdict.PASS: ExitCode.PASS,
    Verdict.FAIL: ExitCode.FAIL,
    Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Verdict.ERROR: ExitCode.INTERNAL_ERROR,
}

_SEVERITY = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check of a run: a model, a fuzzed machine, a driven case.

    ``group`` names the engine (``tlc``, ``fuzz``, ``conform``), ``seconds`` is the measured wall
    time, ``summary`` one sentence for a table, ``details`` the whole story (a counterexample, the
    command that repeats it).
    """

    name: str
    group: str
    verdict: Verdict
    summary: str
    seconds: float = 0.0
    details: str = ""


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts: a failure outranks an error, which outranks an inconclusive run.

    No verdict at all is INCONCLUSIVE: a run that checked nothing has shown nothing.
    """
    present = set(verdicts)
    return next((verdict for verdict in _SEVERITY if verdict in present), Verdict.INCONCLUSIVE)


def exit_code(verdict: Verdict) -> ExitCode:
    """Return the exit code for `verdict`."""
    return _EXIT_CODES[verdict]
