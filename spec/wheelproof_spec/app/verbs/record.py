"""The verb ``record``: histories of the reference under load."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.reports import replacing
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import COMPONENTS

if TYPE_CHECKING:
    from wheelproof_spec.base.component import Config
    from wheelproof_spec.base.history.lines import HistoryHeader
    from wheelproof_spec.history.recording.callers import Callers
    from wheelproof_spec.history.recording.work import MakeLoad

_MOST_THREADS = 1000
"""More only wait for each other, and a machine may refuse to start them."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument("--component", required=True, choices=COMPONENTS, help="what is loaded")
    declare_extent(parser)
    carries(parser, run, writes=("output",))


def declare_extent(parser: argparse.ArgumentParser) -> None:
    """Declare how much is recorded, and where it goes: the options of each verb that loads."""
    parser.add_argument(
        "--output", required=True, type=Path, metavar="FILE", help="the file of the histories"
    )
    parser.add_argument(
        "--threads",
        type=bounded(1, _MOST_THREADS),
        default=8,
        metavar="N",
        help="how many call (default: %(default)s)",
    )
    parser.add_argument(
        "--operations",
        type=bounded(1),
        default=5000,
        metavar="N",
        help="calls a history, of all threads together (default: %(default)s)",
    )
    parser.add_argument(
        "--histories",
        type=bounded(1),
        default=1,
        metavar="N",
        help="how many (default: %(default)s)",
    )
    parser.add_argument(
        "--lateness-ms",
        type=bounded(1),
        metavar="N",
        help="how late what is due may be, in ms (default: what a busy machine needs)",
    )
    parser.add_argument(
        "--seed",
        type=bounded(0),
        default=1,
        metavar="N",
        help="what the callers choose; not how they are scheduled (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Record histories; ``wheelproof check`` judges them."""
    from wheelproof_spec.history.recording.callers import Callers

    component: str = arguments.component
    threads: int = arguments.threads
    operations: int = arguments.operations
    histories: int = arguments.histories
    seed: int = arguments.seed
    make_load = _load_of(component)
    events = 0
    with (
        replacing(arguments.output) as stream,
        progress(quiet=arguments.quiet, first_s=0) as shown,
    ):
        for number in range(histories):
            shown.tell(f"history {number + 1:,} of {histories:,}: {operations:,} operations")
            callers = Callers(threads=threads, operations=operations, seed=seed, number=number)
            events += record_history(stream, component, make_load, callers, arguments.lateness_ms)
    return publish_recorded(arguments, "record", "wheelproof reference", events)


def publish_recorded(
    arguments: argparse.Namespace, verb: str, subject: str, events: int, **given: object
) -> int:
    """Report that histories of `subject` were written; `given` are settings beside the extent."""
    component: str = arguments.component
    line = (
        f"{component} of {subject}: {arguments.histories} histories, {arguments.threads} threads,"
        f" {arguments.operations} operations each, {events} events, seed {arguments.seed}"
    )
    extent = ("histories", "threads", "operations", "seed")
    result = Result(
        verb=verb,
        verdict=Verdict.PASS,
        checks=(),
        line=line,
        text=line,
        given={
            "component": component,
            **given,
            **{name: getattr(arguments, name) for name in extent},
        },
        document={"events": events},
    )
    return publish(result, arguments)


def record_history(
    stream: BinaryIO,
    component: str,
    make_load: "MakeLoad",
    callers: "Callers",
    lateness_ms: int | None = None,
) -> int:
    """Write one history, and return its number of events; raises LoadFailedError."""
    from wheelproof_spec.history.recording.load_recorder import LoadRecorder

    load = make_load(callers)
    history = f"{component}-{callers.seed}-{callers.number}"
    recorder = LoadRecorder(history)
    load.run(recorder, callers)
    return recorder.write_to(stream, _header(history, load.config, lateness_ms))


def _load_of(component: str) -> "MakeLoad":
    from wheelproof_spec.components.registry import loads

    known = loads()
    if component not in known:
        raise UsageError(f"the {component} has no load yet; there are: {', '.join(known)}")
    return known[component]


def _header(history: str, config: "Config", lateness_ms: int | None) -> "HistoryHeader[object]":
    from wheelproof_spec.base.codec.vocabulary import Implementation
    from wheelproof_spec.base.history.lines import HISTORY, HistoryHeader
    from wheelproof_spec.history.recording.recorded_run import resolution_of

    if lateness_ms is not None:
        config = config.with_lateness(lateness_ms)
    return HistoryHeader(
        schema=HISTORY,
        kind="header",
        history=history,
        component=config.component,
        impl=Implementation(name="wheelproof", version="reference"),
        config=config,
        clock="monotonic_ns",
        clock_resolution_ns=resolution_of("monotonic_ns"),
    )
