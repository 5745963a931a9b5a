"""The verb ``check``: judges recorded traces and histories."""

import argparse
import importlib
import shlex
import time
from dataclasses import replace
from pathlib import Path

from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import publish
from wheelproof_spec.base.results.terminal import progress


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a file, or - for standard input"
    )
    add_judging(parser)
    parser.add_argument(
        "--skip",
        type=Path,
        metavar="FILE",
        help="known limits that histories are not judged by: a clause and the reason a line; "
        "those that `conform` knows may be among them",
    )
    parser.add_argument(
        "--tlc", action="store_true", help="ask TLC for a second opinion on each trace"
    )
    parser.add_argument("--jar", type=Path, help="with --tlc: the tla2tools.jar to use")
    parser.add_argument("--java", type=Path, help="with --tlc: the java to use")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page to FILE: each run, and what the threads of a failing one did",
    )
    carries(parser, run, reads=("files", "skip", "jar", "java"), writes=("html",))


def run(arguments: argparse.Namespace) -> int:
    """Judge the files; a violation is exit code 1, Ctrl-C 130, a rejected line 4."""
    from wheelproof_spec.app.recorded import judge_files, known_limits
    from wheelproof_spec.history.reader import STANDARD_INPUT
    from wheelproof_spec.history.result import check_result

    files: list[Path] = arguments.files
    if files.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read once; name - once")
    options = check_options(arguments)
    if arguments.skip is not None:
        options = replace(options, skip=known_limits(arguments.skip))
    if arguments.html is not None:
        # Jinja is an extra: report that it is missing before the files are judged.
        importlib.import_module("jinja2")
    started = time.monotonic()
    with progress(quiet=arguments.quiet) as shown:
        results = judge_files(files, options, shown.tell if shown.shown else None)
    files = files[: len(results)]
    seconds = time.monotonic() - started
    if arguments.tlc:
        # The module needs Java and rich, which most users of the verb do not need.
        from wheelproof_spec.app.laboratory import laboratory

        ask = laboratory("TLC's opinion of a trace").ask_tlc
        ask(files, results, jar=arguments.jar, java=arguments.java)

    def page() -> str:
        from wheelproof_spec.app.pages.check.page import render_check

        words = ["wheelproof", "check", *map(str, arguments.files)]
        if options.profile is not None:
            words += ["--profile", options.profile]
        if arguments.skip is not None:
            words += ["--skip", str(arguments.skip)]
        return render_check(files, results, shlex.join(words))

    return publish(check_result(results, options, seconds), arguments, page)
