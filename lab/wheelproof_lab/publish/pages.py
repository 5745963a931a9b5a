"""The verb `pages`: renews the pages that are made from tables, proofs, tests and figures."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from wheelproof_lab.corpus import page as corpus
from wheelproof_lab.detect import page as detection
from wheelproof_lab.publish import (
    clauses,
    disciplines,
    formats,
    known_bugs,
    mutations,
    picture,
    proofs,
    refinements,
    rules,
    soundness,
    sources,
    standard,
)
from wheelproof_lab.publish.tlc_readmes import tables as tla_readmes
from wheelproof_spec.app.program import runs
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.errors import UsageError

_CORPUS = "corpus"
_DETECTION = "detection"
_PAGES: Mapping[str, Callable[[], int]] = MappingProxyType(
    {
        "clauses": clauses.renew_page,
        _CORPUS: corpus.renew_page,
        _DETECTION: detection.renew_page,
        "disciplines": disciplines.renew_page,
        "formats": formats.renew_page,
        "known-bugs": known_bugs.renew_page,
        "mutations": mutations.renew_page,
        "picture": picture.renew_page,
        "proofs": proofs.renew_page,
        "refinements": refinements.renew_page,
        "rules": rules.renew_page,
        "soundness": soundness.renew_page,
        "sources": sources.renew_page,
        "standard": standard.renew_page,
        "tla-readmes": tla_readmes.renew_page,
    }
)
"""What renews each page, by the page's name; docs/verdicts.md takes long and has its own verb."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(_PAGES)} (default: all but {_CORPUS})"
    )
    parser.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"for {_DETECTION}: outcomes of `bugs --results` (default: the kept outcomes)",
    )
    runs(parser, run, reads=("results",))


def run(arguments: argparse.Namespace) -> int:
    """Renew the pages; return the worst exit code."""
    # The corpus takes minutes and installs packages.
    names: list[str] = arguments.names or [name for name in _PAGES if name != _CORPUS]
    for name in names:
        if name not in _PAGES:
            raise UsageError(unknown("NAME", name, _PAGES))
    if arguments.results and _DETECTION not in names:
        raise UsageError(f"--results is for the page {_DETECTION}")
    renewals = dict(_PAGES)
    renewals[_DETECTION] = partial(detection.renew_page, arguments.results)
    worst = 0
    for name in names:
        worst = max(worst, renewals[name]())
        print(name, flush=True)
    return worst
