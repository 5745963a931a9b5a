"""Errors that end a command with one clear sentence and the right exit code."""

from wheelproof_spec.base.results.verdicts import ExitCode

_LONGEST = 300
"""The most characters that are shown of a text of somebody else."""


class WheelproofSpecError(Exception):
    """Base of the errors that the command line reports as one sentence, without a traceback."""

    exit_code = ExitCode.INTERNAL_ERROR


class UsageError(WheelproofSpecError):
    """The command was called with wrong arguments."""

    exit_code = ExitCode.USAGE


class MissingToolError(WheelproofSpecError):
    """A program or an optional dependency that the command needs is not on this machine."""

    exit_code = ExitCode.USAGE

    def __init__(self, tool: str, remedy: str) -> None:
        super().__init__(f"{tool} was not found; {remedy}")
        self.tool = tool
        self.remedy = remedy


class UnwritableError(WheelproofSpecError):
    """An output cannot be written; `problem` is the system's message. The verdict stands."""

    def __init__(self, output: str, problem: str) -> None:
        super().__init__(f"{output} cannot be written ({problem}); name another place for it")
        self.output = output
        self.problem = problem


class InputRejectedError(WheelproofSpecError):
    """An input file or stream does not follow its format; it was not judged."""

    exit_code = ExitCode.INPUT_REJECTED

    def __init__(self, source: str, line: int | None, problem: str, remedy: str) -> None:
        place = source if line is None else f"{source}:{line}"
        super().__init__(f"{place}: {problem}; {remedy}")
        self.source = source
        self.line = line
        self.problem = problem
        self.remedy = remedy


def printable(text: str, longest: int = _LONGEST) -> str:
    """Return `text` on one line, shortened, its control characters written as escapes."""
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text[:longest]
    )
    return shown if len(text) <= longest else f"{shown}..."
