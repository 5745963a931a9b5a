"""The errors for programs, schedules and options that cannot be explored."""

from wheelproof_explore.verdicts import ExitCode


class ExploreError(Exception):
    """Base of the errors that end a command with one sentence and `exit_code`."""

    exit_code = ExitCode.INTERNAL_ERROR


class OptionRejectedError(ExploreError):
    """An option, or a combination of options, that makes no sense."""

    exit_code = ExitCode.USAGE


class MissingExtraError(ExploreError):
    """A package that exploring needs is not installed."""

    exit_code = ExitCode.USAGE

    def __init__(self, package: str, extra: str) -> None:
        remedy = f"install it in a clone of wheelproof: pip install '.[{extra}]'"
        super().__init__(f"the package {package} was not found; {remedy}")


class InputRejectedError(ExploreError):
    """What was given cannot be explored; `source` is its name."""

    exit_code = ExitCode.INPUT_REJECTED

    def __init__(self, source: str, problem: str, remedy: str) -> None:
        super().__init__(f"{source}: {problem}; {remedy}")
        self.source = source
        self.problem = problem
        self.remedy = remedy


class ProgramRejectedError(InputRejectedError):
    """The program under test breaks the rules of exploration; `source` is its name."""

    def __init__(self, program: str, problem: str, remedy: str) -> None:
        super().__init__(f"program {program}", problem, remedy)


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
        super().__init__("schedule", problem, remedy)


class UnseenStateError(ExploreError):
    """State that the checker does not see steers the steps of a thread: no verdict is possible."""

    def __init__(self, thread: str, does: str) -> None:
        super().__init__(
            f"state that is not seen steers the steps: {thread} {does} where it did something else "
            "before, although nothing that was seen had changed; share it through a cell or a "
            "declared field, or see it with --instrument MODULE: no verdict is possible"
        )


class EngineDefectError(ExploreError):
    """A defect of the engine itself; the result says nothing about the program."""


EXTRAS = {"greenlet": "explore", "hypothesis": "fuzz", "jinja2": "report", "markupsafe": "report"}
"""The extra that brings a package that exploring may need."""


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that says how to get a missing package; None if no extra has it."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    return MissingExtraError(package, extra) if extra else None
