"""Benchmark of the oracle: ``python bench/conformance.py [--quick] [--json FILE]``.

Prints the cost of judging: histories of timers and of pools with up to a million operations from 16
threads, and how the cost of one operation grows; the replay of white-box traces, after parsing,
from bytes, and compared with TLC on the same trace; the steps a second of driving another program.
The peak memory is that of this process, so each history is made and judged piece by piece.
"""

import resource
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from time import process_time

from instruments.machine import this_machine
from instruments.section import Section, bench_parser, measure
from recorded_runs import pool_lines, timer_lines, trace_lines
from wheelproof_lab.trace.run import TraceChecker, TraceOrder
from wheelproof_lab.trace.search import Step
from wheelproof_lab.trace.tlc_module import RecordedTrace
from wheelproof_lab.trace.tlc_opinion import judge_with_tlc
from wheelproof_spec.app.recorded import judge_lines, parse_line
from wheelproof_spec.base.history.lines import TraceEvent, TraceHeader
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import suites
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.tlc.running.launch import find_toolchain

_ADAPTERS = Path(__file__).resolve().parent.parent / "adapters"
_KAFKA: dict[str, dict[str, str | None]] = {
    "kafka-java": {
        "timer": "known-limits.txt",
        "purgatory": None,
        "buffer_pool": "known-limits-buffer_pool.txt",
        "accumulator": "known-limits-accumulator.txt",
    },
    "kafka-broker-java": {"replication": "known-limits.txt"},
}
_PIECE = 10_000
_FEW = 40
_MAKERS: dict[str, Callable[[int, int], Iterator[bytes]]] = {
    "timer": timer_lines,
    "pool": pool_lines,
}
_Trace = tuple[TraceHeader[object], list[TraceEvent[object, object]]]


class _Stopwatch:
    """A stopwatch for the judge alone: it leaves out the time in which the lines are made."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.making = 0.0
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._piece():
            self.count += len(piece)
            yield from piece

    def _piece(self) -> list[bytes]:
        started = process_time()
        piece = list(islice(self._lines, _PIECE))
        self.making += process_time() - started
        return piece


def histories(sizes: Sequence[int], seed: int) -> Section:
    """Judge valid histories; `operations` counts calls, which have two lines or one."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for subject, make in _MAKERS.items():
        costs: list[float] = []
        for size in sizes:
            watch = _Stopwatch(make(size, seed))
            started = process_time()
            result = judge_lines(subject, watch)
            seconds = process_time() - started - watch.making
            if [one.verdict for one in result.verdicts] != [Verdict.PASS]:
                raise SystemExit(f"{subject}: {result.verdicts} {result.rejections}")
            costs.append(seconds / size * 1e6)
            figures = (f"{size:,}", f"{watch.count:,}", f"{seconds:.2f}", f"{costs[-1]:.2f}")
            rows.append((subject, *figures))
        notes.append(f"{subject}: cost of one operation, last / first {costs[-1] / costs[0]:.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Section(
        title="Judging histories",
        claim="At most 20 s for the last, a growth of 1.3 at most, below 1,024 MiB.",
        head=("history", "operations", "lines", "seconds", "us each"),
        rows=tuple(rows),
        notes=(*notes, f"peak of memory {peak:,.0f} MiB"),
    )


def traces(events: int, beside_tlc: int, seed: int) -> Section:
    """Replay a trace from events and from bytes; judge a shorter one with TLC as well."""
    lines = list(trace_lines(events, seed))
    started = process_time()
    header, body = _parsed(lines)
    parsing = process_time() - started
    replaying = _replay_seconds(header, body)
    same = _parsed(trace_lines(beside_tlc, seed))
    ours, theirs = _replay_seconds(*same), _tlc_seconds(*same)
    start = _tlc_seconds(*_parsed(trace_lines(_FEW, seed)))
    return Section(
        title="Replaying white-box traces",
        claim="300,000 events a second once parsed, 150,000 with strict parsing; 100 times as fast"
        f" as TLC on {beside_tlc:,} events, TLC's start not counted.",
        head=("replay", "figure"),
        rows=(
            ("once parsed, events a second", f"{len(body) / replaying:,.0f}"),
            ("with strict parsing", f"{len(body) / (replaying + parsing):,.0f}"),
            ("beside TLC, times as fast", f"{(theirs - start) / ours:,.0f}"),
            ("beside TLC with its start", f"{theirs / ours:,.0f}"),
        ),
    )


def _parsed(lines: Iterator[bytes] | list[bytes]) -> _Trace:
    parsed = [parse_line(line) for line in lines]
    header = parsed[0]
    assert isinstance(header, TraceHeader)
    return header, [one for one in parsed if isinstance(one, TraceEvent)]


def _replay_seconds(header: TraceHeader[object], events: list[TraceEvent[object, object]]) -> float:
    started = process_time()
    checker = TraceChecker(header)
    for event in events:
        checker.feed(event)
    verdict = checker.finish()
    if verdict.verdict is not Verdict.PASS:
        raise SystemExit(f"the trace does not pass: {verdict}")
    return process_time() - started


def _tlc_seconds(header: TraceHeader[object], events: list[TraceEvent[object, object]]) -> float:
    """Return the processor time of TLC; raise SystemExit if TLC rejects the trace."""
    order = TraceOrder(header)
    steps = [Step(event, *order.admit(event), at, 0) for at, event in enumerate(events)]
    trace = RecordedTrace(steps=tuple(steps), in_order=True, silent=order.silent)
    config = header.config
    assert isinstance(config, TimerConfig)
    started = _children_seconds()
    (opinion,) = judge_with_tlc(find_toolchain(), config, [trace])
    if not opinion.accepts:
        raise SystemExit(f"TLC explains {opinion.good} of {opinion.events} events")
    return _children_seconds() - started


def _process_seconds(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _children_seconds() -> float:
    return _process_seconds(resource.RUSAGE_CHILDREN)


def _drivers() -> Iterator[tuple[str, str, Path | None]]:
    """Yield a component, its driver and its known limits; Kafka's only if it has been built."""
    reference = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
    yield from ((name, reference, None) for name in suites())
    for folder, jar in (("kafka-java", "kafka-driver.jar"), ("kafka-broker-java", "lib")):
        adapter = _ADAPTERS / folder
        if not (adapter / "target" / jar).exists():
            continue
        for name, limits in _KAFKA[folder].items():
            skip = None if limits is None else adapter / limits
            yield name, shlex.quote(str(adapter / "run")), skip


def driven(cases: int, seed: int) -> Section:
    """Drive each component of the reference and of Kafka through `cases` random cases."""
    rows: list[tuple[str, ...]] = []
    for name, driver, skip in _drivers():
        plan = ConformancePlan(driver=driver, cases=cases, seed=seed, skip=skip)
        before = _process_seconds(), _children_seconds()
        result = conform(suites()[name], plan)
        if result.verdict is not Verdict.PASS:
            raise SystemExit(f"{driver}, {name}: {result.verdict}")
        rate = f"{result.steps / result.seconds:,.0f}"
        judge, theirs = _process_seconds() - before[0], _children_seconds() - before[1]
        each = (f"{used / result.steps * 1e6:,.0f}" for used in (judge, theirs))
        rows.append((name, f"{result.steps:,}", result.subject, rate, *each))
    return Section(
        title="Driving components",
        claim="5,000 steps a second of wall time on a quiet machine, the start included: two "
        "programs take part. The last columns are processor time of a step.",
        head=("driven", "steps", "implementation", "steps a second", "judge us", "driver us"),
        rows=tuple(rows),
    )


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    about = "Benchmark of the conformance oracle."
    options = bench_parser("conformance", about, "runs").parse_args(arguments)
    quick, seed = options.quick, options.seed
    works = [
        partial(histories, (1_000, 4_000) if quick else (10_000, 100_000, 1_000_000), seed),
        partial(traces, 2_000 if quick else 200_000, 150 if quick else 2_000, seed),
        partial(driven, 30 if quick else 1_250, seed),
    ]
    measure(works, this_machine(), seed=seed, json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
