"""The verb ``check``: judges recorded traces and histories."""

import argparse
import importlib
import shlex
import time
from pathlib import Path

from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs import VERBS
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import publish


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "check", VERBS["check"], run, reads=("files", "jar", "java"), writes=("html",)
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a file, or - for standard input"
    )
    add_judging(parser)
    parser.add_argument(
        "--tlc", action="store_true", help="ask TLC for a second opinion on each trace"
    )
    parser.add_argument("--jar", type=Path, help="with --tlc: the tla2tools.jar to use")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page to FILE: each run, and what the threads of a failing one did",
    )
    parser.add_argument("--java", type=Path, help="with --tlc: the java to use")


def run(arguments: argparse.Namespace) -> int:
    """Judge the files; a violation is exit code 1, a rejected line 4."""
    from wheelproof_spec.app.recorded import judge_lines
    from wheelproof_spec.engines.history.reader import STANDARD_INPUT, read_lines
    from wheelproof_spec.engines.history.result import check_result

    files: list[Path] = arguments.files
    if files.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read once; name - once")
    options = check_options(arguments)
    if arguments.html is not None:
        # Jinja is an extra: if it is missing, this has to be said before the files are judged.
        importlib.import_module("jinja2")
    started = time.monotonic()
    results = [
        judge_lines(
            "<standard input>" if path == STANDARD_INPUT else str(path), read_lines(path), options
        )
        for path in files
    ]
    seconds = time.monotonic() - started
    if arguments.tlc:
        # Its module needs Java and rich, and most users of the verb do not.
        from wheelproof_spec.app.verbs.second_opinion import ask_tlc

        ask_tlc(files, results, jar=arguments.jar, java=arguments.java)

    def page() -> str:
        from wheelproof_spec.app.pages.check.page import render_check

        words = ["wheelproof", "check", *map(str, files)]
        if options.profile is not None:
            words += ["--profile", options.profile]
        return render_check(files, results, shlex.join(words))

    return publish(check_result(results, options, seconds), arguments, page)
