"""Benchmark of the oracle: ``python bench/conformance.py [--quick] [--json FILE]``.

Prints what judging costs: histories of timers and of pools with up to a million operations from 16
threads, and how the cost of one operation grows; the replay of white-box traces, once parsed, from
bytes, and beside TLC on the same trace; how many damaged lines are told apart; how many steps a
second another program is driven through (wall time, for two programs take part). Else processor
time of one core; the peak of memory is the process's own, so each history is made and judged piece
by piece.
"""

import random
import resource
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import process_time

from instruments.machine import bench_parser, this_machine
from recorded_runs import damaged_lines, pool_lines, timer_lines, trace_lines
from replay_against_tlc import Race, race
from wheelproof_spec.app.recorded import judge_lines, parse_line
from wheelproof_spec.base.history.lines import TraceEvent, TraceHeader
from wheelproof_spec.base.results.reports import write_json
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import suites
from wheelproof_spec.components.timer.trace.run import TraceChecker
from wheelproof_spec.engines.drive.conformance import conform
from wheelproof_spec.engines.drive.plan import ConformancePlan
from wheelproof_spec.engines.history.line_parser import Rejection

SECONDS_TARGET = 20.0
GROWTH_TARGET = 1.3
MEMORY_TARGET_MIB = 1024
REPLAY_TARGET = 300_000
TLC_TARGET = 100
STRICT_TARGET = 150_000
DRIVEN_TARGET = 5_000
_ADAPTERS = Path(__file__).resolve().parent.parent / "adapters"
_PIECE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What judging one history cost; `operations` counts calls, each of two lines or one."""

    subject: str
    operations: int
    lines: int
    seconds: float

    @property
    def microseconds(self) -> float:
        """The cost of one operation."""
        return self.seconds / self.operations * 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How many events of a trace are replayed in a second."""

    events: int
    parsed: float
    strict: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Damaged lines: each was accepted or rejected."""

    lines: int
    rejected: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """How many steps a second an implementation was driven through, its start included."""

    subject: str
    steps: int
    seconds: float

    @property
    def rate(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds


class _Stopwatch:
    """Measures the judge alone: the time in which the lines are made does not count."""

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


def judge(subject: str, operations: int, lines: Iterator[bytes]) -> Cost:
    """Judge a history, which has to pass."""
    watch = _Stopwatch(lines)
    started = process_time()
    result = judge_lines(subject, watch)
    seconds = process_time() - started - watch.making
    if [one.verdict for one in result.verdicts] != [Verdict.PASS]:
        raise SystemExit(f"{subject}: {result.verdicts} {result.rejections}")
    return Cost(subject=subject, operations=operations, lines=watch.count, seconds=seconds)


def replay(events: int, seed: int) -> Replay:
    """Replay one trace twice: from events, and from bytes."""
    lines = list(trace_lines(events, seed))
    parsed = [parse_line(line) for line in lines]
    header, body = parsed[0], [one for one in parsed if isinstance(one, TraceEvent)]
    assert isinstance(header, TraceHeader)
    started = process_time()
    _replay(header, body)
    from_events = process_time() - started
    started = process_time()
    for line in lines:
        parse_line(line)
    parsing = process_time() - started
    return Replay(
        events=len(body),
        parsed=len(body) / from_events,
        strict=len(body) / (from_events + parsing),
    )


def _replay(header: TraceHeader[object], events: Iterable[TraceEvent[object, object]]) -> None:
    checker = TraceChecker(header)
    for event in events:
        checker.feed(event)
    verdict = checker.finish()
    if verdict.verdict is not Verdict.PASS:
        raise SystemExit(f"the trace does not pass: {verdict}")


def damage(lines: int, seed: int) -> Damage:
    """Parse damaged lines: nothing but events and rejections may come of them."""
    rejected = 0
    watch = _Stopwatch(damaged_lines(lines, random.Random(seed)))
    started = process_time()
    for line in watch:
        rejected += isinstance(parse_line(line), Rejection)
    seconds = process_time() - started - watch.making
    return Damage(lines=lines, rejected=rejected, seconds=seconds)


def drive(cases: int, seed: int) -> Iterator[Driven]:
    """Drive the adapters' timers through `cases` random cases, Kafka's if it has been built."""
    drivers: list[tuple[str, Path | None]] = [
        (shlex.join([sys.executable, str(_ADAPTERS / "python-heapq" / "driver.py")]), None)
    ]
    kafka = _ADAPTERS / "kafka-java"
    if (kafka / "target" / "kafka-driver.jar").is_file():
        drivers.append((shlex.quote(str(kafka / "run")), kafka / "known-limits.txt"))
    for driver, skip in drivers:
        plan = ConformancePlan(driver=driver, cases=cases, seed=seed, skip=skip)
        result = conform(suites()["timer"], plan)
        if result.verdict is not Verdict.PASS:
            raise SystemExit(f"{driver}: {result.verdict}")
        yield Driven(subject=result.subject, steps=result.steps, seconds=result.seconds)


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    about = "Benchmark of the conformance oracle."
    options = bench_parser("conformance", about, "runs").parse_args(arguments)
    sizes = (1_000, 4_000) if options.quick else (10_000, 100_000, 1_000_000)
    machine = this_machine()
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, load {machine.load}")
    print(f"processor time of one core; seed {options.seed}", flush=True)
    makers: dict[str, Callable[[int, int], Iterator[bytes]]] = {
        "timer": timer_lines,
        "pool": pool_lines,
    }
    costs = [
        judge(subject, size, make(size, options.seed))
        for subject, make in makers.items()
        for size in sizes
    ]
    _print_costs(costs)
    replayed = replay(2_000 if options.quick else 200_000, options.seed)
    print("\nreplay of a white-box trace, events a second")
    print(f"{'once parsed':<24}{replayed.parsed:>12,.0f}   target: {REPLAY_TARGET:,}")
    print(f"{'with strict parsing':<24}{replayed.strict:>12,.0f}   target: {STRICT_TARGET:,}")
    beside_tlc = race(150 if options.quick else 2_000, options.seed)
    _print_race(beside_tlc)
    hurt = damage(2_000 if options.quick else 1_000_000, options.seed)
    print(f"\n{hurt.lines:,} damaged lines: {hurt.rejected:,} rejected, {hurt.seconds:.1f} s")
    driven = list(drive(20 if options.quick else 1_250, options.seed))
    print("\ndriven, the timer, steps a second of wall time")
    for one in driven:
        steps = f"{one.steps:,} steps in {one.seconds:.1f} s"
        print(f"{one.subject}: {one.rate:,.0f} ({steps})   target: {DRIVEN_TARGET:,}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of memory {peak:,.0f} MiB   target: below {MEMORY_TARGET_MIB:,}")
    if options.json is not None:
        figures = {
            "costs": [asdict(cost) for cost in costs],
            "replay": asdict(replayed),
            "beside_tlc": asdict(beside_tlc),
            "damage": asdict(hurt),
            "driven": [asdict(one) for one in driven],
            "peak_mib": peak,
        }
        document = {"schema": "wheelproof.bench/1", "machine": asdict(machine), **figures}
        write_json(options.json, document)
    return 0


def _print_race(found: Race) -> None:
    print(
        f"beside TLC, {found.events:,} events: replay {found.replay:.4f} s, TLC {found.tlc:.2f} s "
        f"of which {found.tlc_start:.2f} s to start; {found.ratio:,.0f} times faster, "
        f"{found.ratio_with_start:,.0f} with the start   target: {TLC_TARGET}"
    )


def _print_costs(costs: Sequence[Cost]) -> None:
    print(f"\n{'history':<10}{'operations':>12}{'lines':>12}{'seconds':>10}{'us each':>10}")
    for cost in costs:
        print(
            f"{cost.subject:<10}{cost.operations:>12,}{cost.lines:>12,}"
            f"{cost.seconds:>10.2f}{cost.microseconds:>10.2f}"
        )
    for subject in dict.fromkeys(cost.subject for cost in costs):
        own = [cost for cost in costs if cost.subject == subject]
        growth = own[-1].microseconds / own[0].microseconds
        print(
            f"{subject}: cost of one operation, last / first {growth:.2f}   target: at most "
            f"{GROWTH_TARGET}; the last in {own[-1].seconds:.1f} s   target: {SECONDS_TARGET:.0f}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
