"""``python -m wheelproof_explore``: the verb `explore` without the judge."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from wheelproof_explore.command import Surroundings, declare, explored
from wheelproof_explore.failures.problems import (
    ExploreError,
    OptionRejectedError,
    missing_extra,
)
from wheelproof_explore.program import Program
from wheelproof_explore.reports import json_text, junit_text, write
from wheelproof_explore.verdicts import ExitCode

_STANDARD_OUTPUT = Path("-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verb and return its exit code; an error is reported in one sentence."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    surroundings = Surroundings(named=_named)
    parser = argparse.ArgumentParser(
        prog="python -m wheelproof_explore",
        allow_abbrev=False,
        description="Run a program under every interleaving of its threads or tasks.",
        epilog="Exit codes: 0 pass, 1 fail, 2 usage, 3 inconclusive, 4 input rejected, "
        "5 internal error, 130 interrupted.",
    )
    declare(parser, surroundings)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result as JSON, or -")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write it as JUnit XML, or -")
    parser.add_argument("--quiet", action="store_true", help="print the verdict and nothing else")
    parsed = parser.parse_args(words)
    try:
        return _run(parsed, surroundings, words)
    except ExploreError as error:
        return _report(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        return _report(str(missing), missing.exit_code)
    except OSError as error:
        return _report(str(error), ExitCode.INTERNAL_ERROR)
    except KeyboardInterrupt:
        return _report("interrupted; what was not finished is not judged", ExitCode.INTERRUPTED)


def _run(parsed: argparse.Namespace, surroundings: Surroundings, words: Sequence[str]) -> int:
    asked = [path for path in (parsed.json, parsed.junit, parsed.html) if path is not None]
    if len({path.resolve() for path in asked}) < len(asked):
        raise OptionRejectedError("two reports have one file; name a file for each")
    for path in asked:
        if not path.parent.is_dir():
            raise OptionRejectedError(f"{path}: there is no folder {path.parent}; make it")
    parsed.quiet = parsed.quiet or _STANDARD_OUTPUT in (parsed.json, parsed.junit)
    outcome = explored(parsed, surroundings)
    if outcome is None:
        return ExitCode.PASS
    repeat = shlex.join(("python", "-m", "wheelproof_explore", *words))
    forms = {
        parsed.json: lambda: json_text(outcome, repeat),
        parsed.junit: lambda: junit_text(outcome),
        parsed.html: outcome.page,
    }
    if _STANDARD_OUTPUT not in forms:
        print(outcome.verdict.value)
    for path, form in forms.items():
        if path == _STANDARD_OUTPUT:
            print(form(), end="")
        elif path is not None:
            write(path, form())
    return outcome.exit_code


def _named(name: str) -> Program:
    raise OptionRejectedError(
        f"{name!r} is no function; name one as module:function or file.py:function"
    )


def _report(sentence: str, code: ExitCode) -> int:
    print(f"wheelproof_explore: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
