"""What our command lines share: `wheelproof`, and the laboratory's `python -m wheelproof_lab`.

A program is groups of verbs. `build` makes its parser, and declares only the verb that is asked
for: so `--help` is fast, and works in an environment without the extras. `run_program` parses,
runs the verb, and reports every error in one sentence and with its exit code.
"""

import argparse
import contextlib
import errno
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from wheelproof_explore.failures.problems import ExploreError
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.errors import WheelproofSpecError, printable
from wheelproof_spec.base.results.streams import flush_output, lost_output, make_streams_safe
from wheelproof_spec.base.results.verdicts import ExitCode

EXIT_CODES = (
    "Exit codes: 0 pass, 1 fail, 2 usage, 3 inconclusive, 4 input rejected, "
    "5 internal error, or an output that cannot be written, 130 interrupted."
)

TRACEBACK = "WHEELPROOF_TRACEBACK"
"""The environment variable with which an internal error prints its traceback."""

Run = Callable[[argparse.Namespace], int]
"""A verb: takes the parsed arguments and returns the exit code."""
Declare = Callable[[argparse.ArgumentParser], None]
"""A function that declares the arguments of a verb, and calls `carries`."""
BuildParser = Callable[[Sequence[str] | None], argparse.ArgumentParser]
"""A function that makes the parser of a program, as `build` does."""

_LONGEST = 2_000
_WIDTH = 80
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence that names what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Print the error and end the program with the exit code of wrong usage."""
        self.exit(2, f"{self.prog}: {printable(message, _LONGEST)}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        what = "/".join(action.option_strings) or action.metavar or action.dest
        raise argparse.ArgumentError(
            None, unknown(str(what), str(value), [str(choice) for choice in action.choices])
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Verbs that belong together: the summary of each, by its name."""

    title: str
    verbs: Mapping[str, str]

    def text(self) -> str:
        """Return the part of the help that lists these verbs."""
        lines = (f"  {name:<12} {summary}" for name, summary in self.verbs.items())
        return "\n".join((f"{self.title}:", *lines))


def build(
    prog: str,
    description: str,
    groups: Sequence[Group],
    declare: Callable[[str, argparse.ArgumentParser], None],
    words: Sequence[str] | None,
) -> argparse.ArgumentParser:
    """Return the parser of a program, with the verb in `words`, or without `words` every verb.

    `declare` gets the name and the parser of a verb. The other verbs are there without arguments.
    """
    parser = Parser(
        prog=prog,
        allow_abbrev=False,
        # argparse has no groups of verbs: the description lists them.
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="\n\n".join((description, *(group.text() for group in groups))),
        epilog=textwrap.fill(EXIT_CODES, _WIDTH),
    )
    verbs = parser.add_subparsers(
        required=True, metavar="VERB", help=f"one of these; {prog} VERB --help describes it"
    )
    asked = None if words is None else next(iter(words), None)
    for group in groups:
        for name, summary in group.verbs.items():
            # What completes words sees only verbs with a `help`, which the help lists once more.
            verb = (
                verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
                if words is None
                else verbs.add_parser(name, description=summary, allow_abbrev=False)
            )
            if words is None or asked == name:
                declare(name, verb)
    return parser


def carries(
    parser: argparse.ArgumentParser,
    run: Run,
    *,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
) -> None:
    """Let a verb carry out `run`, and give it the options of every verb that reports a result.

    `reads` and `writes` name the arguments with its inputs and outputs, as
    `require_separate_files` takes them; no output is written over an input.
    """
    runs(parser, run, reads=reads, writes=("json", "junit", *writes))
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the result as JSON to FILE; to standard output if it is -, and all else to "
        "standard error",
    )
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="write the result as JUnit XML to FILE, or -"
    )
    parser.add_argument("--quiet", action="store_true", help="print the verdict and nothing else")


def runs(
    parser: argparse.ArgumentParser,
    run: Run,
    *,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
) -> None:
    """Let a verb carry out `run`, without the options of `carries`: it writes no reports."""
    parser.set_defaults(run=run, prog="wheelproof", words=(), reads=reads, writes=writes)


def run_program(
    prog: str,
    build_parser: BuildParser,
    arguments: Sequence[str] | None,
) -> int:
    """Run a program and return its exit code; an error is reported in one sentence.

    An error of the program itself never has the exit code 1, which means that a verdict is bad.
    """
    make_streams_safe()
    words = sys.argv[1:] if arguments is None else list(arguments)
    program = _Program(prog, build_parser)
    try:
        with termination_as_interrupt():
            return program.flushed(program.run(words))
    except SystemExit as ended:
        # argparse ends the program for help, for versions and for wrong usage.
        ended.code = program.flushed(ended.code)
        raise


@contextlib.contextmanager
def termination_as_interrupt() -> Generator[None]:
    """Handle a request to terminate as Ctrl-C, so that the program cleans up."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    # A signal that is ignored, as under `nohup`, or that has a handler already, stays as it is.
    taken = [each for each in signals if signal.getsignal(each) is signal.SIG_DFL]
    try:
        for each in taken:
            signal.signal(each, signal.default_int_handler)
    except ValueError:
        # Not the main thread: only the main thread may set signal handlers.
        taken = []
    try:
        yield
    finally:
        for each in taken:
            signal.signal(each, signal.SIG_DFL)


@dataclass(frozen=True, slots=True)
class _Program:
    """A program by the name with which its errors begin."""

    prog: str
    build_parser: BuildParser

    def run(self, words: list[str]) -> int:
        try:
            parsed = self._parsed(words)
            # Not before: argparse has ended the program by now if it was asked for help.
            from wheelproof_spec.base.results.outputs import require_separate_files
            from wheelproof_spec.base.results.publishing import STANDARD_OUTPUT

            require_separate_files(parsed, parsed.reads, parsed.writes)
            parsed.standard_output = sys.stdout
            given = (getattr(parsed, name, None) for name in parsed.writes)
            telling = sys.stderr if STANDARD_OUTPUT in given else sys.stdout
            with contextlib.redirect_stdout(telling):
                return self._carry_out(parsed)
        except (WheelproofSpecError, ExploreError) as error:
            return self._report(str(error), ExitCode(error.exit_code))
        except ModuleNotFoundError as error:
            from wheelproof_spec.base.needs import missing_package

            missing = missing_package(error)
            if missing is None:
                return self._defect(error)
            return self._report(str(missing), missing.exit_code)
        except BrokenPipeError as error:
            lost_output(error)
            return ExitCode.INCONCLUSIVE
        except OSError as error:
            lost = lost_output(error) if error.filename is None and error.errno in _FULL else error
            return self._report(printable(str(lost)), ExitCode.INTERNAL_ERROR)
        except KeyboardInterrupt:
            return self._interrupted()
        except Exception as error:
            # Python 3.11 wraps what arrives while a class is made in a RuntimeError.
            if isinstance(error.__cause__, KeyboardInterrupt):
                return self._interrupted()
            return self._defect(error)

    def flushed(self, code: object) -> int:
        """Flush standard output, and return the exit code, or an error code if output was lost."""
        lost = flush_output()
        if lost is not None:
            return self._report(str(lost), lost.exit_code)
        return code if isinstance(code, int) else ExitCode.PASS

    def _parsed(self, words: list[str]) -> argparse.Namespace:
        parser = self.build_parser(words)
        if not words:
            print(parser.description, flush=True)
            parser.exit(ExitCode.USAGE, f"{self.prog}: name one of these verbs\n")
        parsed, more = parser.parse_known_args(words)
        late_files: bool = getattr(parsed, "late_files", False)
        if more and (not late_files or any(word[:1] == "-" for word in more)):
            parser.error(f"unrecognized arguments: {' '.join(more)}")
        if more:
            # These files are behind options, where argparse has already closed the list of files.
            parsed.files += more
        parsed.prog = self.prog
        parsed.build_parser = self.build_parser
        parsed.words = words
        return parsed

    def _carry_out(self, parsed: argparse.Namespace) -> int:
        run: Run = parsed.run
        try:
            return run(parsed)
        except SystemExit as ended:
            problem = f"what was run ended the program, with sys.exit({ended.code!r})"
            return self._report(f"{problem}; nothing is judged", ExitCode.INPUT_REJECTED)

    def _interrupted(self) -> int:
        problem = "interrupted; what was not finished is not judged"
        return self._report(problem, ExitCode.INTERRUPTED)

    def _defect(self, error: Exception) -> int:
        """Report an internal error in one sentence that a bug report can start with."""
        import traceback

        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = printable(f"{type(error).__name__}: {error}")
        return self._report(
            f"internal error: {what} ({Path(frame.filename).name}, line {frame.lineno}); "
            f"set {TRACEBACK}=1 to see where, and please report it",
            ExitCode.INTERNAL_ERROR,
        )

    def _report(self, sentence: str, code: ExitCode) -> int:
        # If standard error is closed, nothing can be reported.
        with contextlib.suppress(OSError):
            print(f"{self.prog}: {printable(sentence, _LONGEST)}", file=sys.stderr, flush=True)
        return code
