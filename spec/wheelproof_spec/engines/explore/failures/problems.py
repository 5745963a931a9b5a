"""The errors for programs and schedules that cannot be explored."""

from wheelproof_spec.base.errors import InputRejectedError, WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode


class ProgramRejectedError(InputRejectedError):
    """The program under test breaks the rules of exploration; `source` is its name."""

    def __init__(self, program: str, problem: str, remedy: str) -> None:
        super().__init__(f"program {program}", None, problem, remedy)


class SilentActionError(Exception):
    """An action of the program that did nothing, or whose result would be dropped."""

    def __init__(self, action: object, problem: str) -> None:
        name: object = getattr(action, "__qualname__", type(action).__name__)
        super().__init__(f"{name} {problem}")


def rejected(program: str, error: SilentActionError) -> ProgramRejectedError:
    """Return the error for a program with a silent action."""
    remedy = "let threads call plain functions, and let checks raise: assert ..."
    return ProgramRejectedError(program, str(error), remedy)


class NondeterminismError(ProgramRejectedError):
    """The error that the same schedule did not give the same run."""


class ScheduleRejectedError(InputRejectedError):
    """A schedule string that is damaged, of another version or of another program."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__("schedule", None, problem, remedy)


class EngineDefectError(WheelproofSpecError):
    """A defect of the engine itself; the result says nothing about the program."""

    exit_code = ExitCode.INTERNAL_ERROR
