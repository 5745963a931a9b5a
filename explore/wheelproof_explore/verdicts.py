"""How an exploration can end: its verdict, and the exit code of the program."""

from enum import IntEnum, StrEnum, auto


class Verdict(StrEnum):
    """How an exploration ended; the worst one of several is the smallest in this order."""

    FAIL = auto()
    INCONCLUSIVE = auto()
    PASS = auto()


class ExitCode(IntEnum):
    """Exit codes of ``python -m wheelproof_explore``: a fail is exactly 1."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3
    INPUT_REJECTED = 4
    INTERNAL_ERROR = 5
    INTERRUPTED = 130


EXIT_CODES = {
    Verdict.PASS: ExitCode.PASS,
    Verdict.FAIL: ExitCode.FAIL,
    Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}
