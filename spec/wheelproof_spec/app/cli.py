"""The command line: one program, one module a verb.

Only the module of the requested verb is imported. A verb imports what it needs beyond the standard
library when it runs. So `wheelproof --help` is fast, and works in an environment without the
extras. A package that builds on this one, such as the pipeline, adds its verbs as entry points.
"""

import argparse
import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from wheelproof_explore.failures.problems import ExploreError
from wheelproof_spec.app.verbs import VERBS, module_of
from wheelproof_spec.app.verbs.declaring import Parser, Verbs
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.printable import printable
from wheelproof_spec.base.results.outputs import require_separate_files
from wheelproof_spec.base.results.publishing import STANDARD_OUTPUT
from wheelproof_spec.base.results.streams import flush_output, lost_output, make_streams_safe
from wheelproof_spec.base.results.verdicts import ExitCode

VERBS_OF_OTHERS = "wheelproof.verbs"
"""The group of entry points whose modules have a function `register`, as our verbs do."""

_LONGEST = 2_000
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

TRACEBACK = "WHEELPROOF_TRACEBACK"
"""The environment variable with which an internal error prints its traceback."""


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the program, with the verb in `words`, or without `words` every verb."""
    parser = Parser(
        prog="wheelproof",
        allow_abbrev=False,
        description="Reference, specification and conformance oracle for delayed operations.",
        epilog="Exit codes: 0 pass, 1 fail, 2 usage, 3 inconclusive, 4 input rejected, "
        "5 internal error, or an output that cannot be written, 130 interrupted.",
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of the program and what it uses",
    )
    verbs = Verbs(parser)
    asked = None if words is None else next(iter(words), None)
    for name, summary in VERBS.items():
        if words is None or asked == name:
            _register(name, verbs)
        else:
            verbs.mention(name, summary)
    if asked not in VERBS and asked != "--version":
        from importlib.metadata import entry_points

        for other in sorted(entry_points(group=VERBS_OF_OTHERS), key=lambda found: found.name):
            other.load().register(verbs)
    return parser


def _register(name: str, verbs: Verbs) -> None:
    register: Callable[[Verbs], None] = importlib.import_module(module_of(name)).register
    register(verbs)


class _Version(argparse.Action):
    """The action that prints the versions and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Print the versions and end the program."""
        from wheelproof_spec.app.installed import version_lines

        del namespace, values, option_string
        print("\n".join(version_lines()))
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; an error is reported in one sentence.

    An error of the program itself never has the exit code 1, which means that a verdict is bad.
    """
    make_streams_safe()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with termination_as_interrupt():
            return _flushed(_run(words))
    except SystemExit as ended:
        # argparse ends the program for help, for versions and for wrong usage.
        ended.code = _flushed(ended.code)
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


def _run(words: list[str]) -> int:
    try:
        parsed = _parsed(words)
        require_separate_files(parsed, parsed.reads, parsed.writes)
        parsed.standard_output = sys.stdout
        given = (getattr(parsed, name, None) for name in parsed.writes)
        telling = sys.stderr if STANDARD_OUTPUT in given else sys.stdout
        with contextlib.redirect_stdout(telling):
            return _carry_out(parsed)
    except (WheelproofSpecError, ExploreError) as error:
        return _report(str(error), ExitCode(error.exit_code))
    except ModuleNotFoundError as error:
        from wheelproof_spec.base.needs import missing_package

        missing = missing_package(error)
        return _defect(error) if missing is None else _report(str(missing), missing.exit_code)
    except BrokenPipeError as error:
        lost_output(error)
        return ExitCode.INCONCLUSIVE
    except OSError as error:
        lost = lost_output(error) if error.filename is None and error.errno in _FULL else error
        return _report(printable(str(lost)), ExitCode.INTERNAL_ERROR)
    except KeyboardInterrupt:
        return _report("interrupted; what was not finished is not judged", ExitCode.INCONCLUSIVE)
    except Exception as error:
        return _defect(error)


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = build_parser(words)
    parsed, more = parser.parse_known_args(words)
    if more and (not getattr(parsed, "late_files", False) or any(word[:1] == "-" for word in more)):
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    if more:
        # These files are behind options, where argparse has already closed the list of files.
        parsed.files += more
    parsed.words = words
    return parsed


def _carry_out(parsed: argparse.Namespace) -> int:
    run: Callable[[argparse.Namespace], int] = parsed.run
    try:
        return run(parsed)
    except SystemExit as ended:
        problem = f"what was run ended the program, with sys.exit({ended.code!r})"
        return _report(f"{problem}; nothing is judged", ExitCode.INPUT_REJECTED)


def _flushed(code: object) -> int:
    """Flush standard output, and return the exit code, or an error code if output was lost."""
    lost = flush_output()
    if lost is not None:
        return _report(str(lost), lost.exit_code)
    return code if isinstance(code, int) else ExitCode.PASS


def _defect(error: Exception) -> int:
    """Report an internal error in one sentence that a bug report can start with."""
    import traceback

    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = printable(f"{type(error).__name__}: {error}")
    return _report(
        f"internal error: {what} ({Path(frame.filename).name}, line {frame.lineno}); "
        f"set {TRACEBACK}=1 to see where, and please report it",
        ExitCode.INTERNAL_ERROR,
    )


def _report(sentence: str, code: ExitCode) -> int:
    # If standard error is closed, nothing can be reported.
    with contextlib.suppress(OSError):
        print(f"wheelproof: {printable(sentence, _LONGEST)}", file=sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
