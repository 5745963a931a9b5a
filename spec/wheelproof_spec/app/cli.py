"""The command line: one program, one module a verb.

Only the module of the verb that is asked for is imported, and what that verb needs beyond the
standard library when it runs. So `wheelproof --help` is there at once, and works in an environment
that has none of the extras. A package that builds on this one, as the pipeline, brings its verbs as
entry points.
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

from wheelproof_spec.app.verbs import DECLARED_BY_TABLE, VERBS, module_of
from wheelproof_spec.app.verbs.declaring import Parser, Verbs
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.printable import printable
from wheelproof_spec.base.results.outputs import require_separate_files
from wheelproof_spec.base.results.publishing import STANDARD_OUTPUT
from wheelproof_spec.base.results.streams import flush_output, lost_output, make_streams_safe
from wheelproof_spec.base.results.verdicts import ExitCode

VERBS_OF_OTHERS = "wheelproof.verbs"
"""The group of entry points whose modules have a function `register`, as ours do."""

_LONGEST = 2_000
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

TRACEBACK = "WHEELPROOF_TRACEBACK"
"""The environment variable with which a defect of the program shows where it is."""


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the program: of `words` alone, or without them of every verb."""
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
    if name in DECLARED_BY_TABLE:
        verbs.own(name, lambda arguments: importlib.import_module(module_of(name)).run(arguments))
        return
    register: Callable[[Verbs], None] = importlib.import_module(module_of(name)).register
    register(verbs)


class _Version(argparse.Action):
    """Prints the versions and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Print them."""
        from wheelproof_spec.app.installed import version_lines

        del namespace, values, option_string
        print("\n".join(version_lines()))
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; what goes wrong is one sentence.

    No failure of the program itself has the exit code 1, which says that something was judged bad.
    """
    make_streams_safe()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with termination_as_interrupt():
            return _flushed(_run(words))
    except SystemExit as ended:
        # Help, versions, and usage that argparse refuses.
        ended.code = _flushed(ended.code)
        raise


@contextlib.contextmanager
def termination_as_interrupt() -> Generator[None]:
    """Let a request to terminate end the program as Ctrl-C does: nothing is left half-done."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    # Whoever ignores a signal, as `nohup` does, or handles it already, goes on doing so.
    taken = [each for each in signals if signal.getsignal(each) is signal.SIG_DFL]
    try:
        for each in taken:
            signal.signal(each, signal.default_int_handler)
    except ValueError:
        # Not the main thread: its signals are another's affair.
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
    except WheelproofSpecError as error:
        return _report(str(error), error.exit_code)
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
        # They stand behind options, where argparse has closed their list already.
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
    """Write what is left for standard output, and return the exit code, or that it was lost."""
    lost = flush_output()
    if lost is not None:
        return _report(str(lost), lost.exit_code)
    return code if isinstance(code, int) else ExitCode.PASS


def _defect(error: Exception) -> int:
    """Say that the program failed, in one sentence that a report of the defect can start with."""
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
    # Nobody is left to be told if standard error is closed.
    with contextlib.suppress(OSError):
        print(f"wheelproof: {printable(sentence, _LONGEST)}", file=sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
