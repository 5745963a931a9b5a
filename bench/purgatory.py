"""Benchmark of the purgatory: ``python bench/purgatory.py [--quick] [--json FILE]``.

Operations of three keys each are handed in until all of them wait; most are completed by a trigger
of one of their keys, the others expire. Printed for 10^4 to 10^6 operations, in one run: what an
operation costs in each part of its life, operations a second, memory, and what is left in the end.
"""

import random
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from instruments.machine import bench_parser, this_machine
from instruments.stopwatch import garbage_collector, microseconds_each
from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.results.reports import write_json

KEYS_EACH = 3
TRIGGERED_PERCENT = 90
LONGEST_DELAY_MS = 60_000
RATIO_TARGET = 1.5
"""How much dearer an operation may be among the most operations than among the fewest."""

FULL = (10_000, 100_000, 1_000_000)
QUICK = (100, 1_000)
_KIB = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Processor time of one operation in microseconds, and memory in bytes, among `pending`.

    `complete_us` is for setting an operation's condition and triggering one of its keys, divided
    by those that are triggered; `end_us` for the expiry of the rest and the purge of the lists,
    divided by all. `peak_bytes` is how much the process has grown, divided by all; None where it
    could use memory again that an earlier run had.
    """

    pending: int
    collector: bool
    watch_us: float
    complete_us: float
    end_us: float
    peak_bytes: float | None
    left: tuple[int, int, int]

    @property
    def life_us(self) -> float:
        """The whole life of one operation, on the average."""
        return self.watch_us + self.complete_us * TRIGGERED_PERCENT / 100 + self.end_us


class FlagOperation(DelayedOperation):
    """An operation that can end when its flag is up."""

    __slots__ = ("flag", "keys")

    def __init__(self, delay_ms: int, keys: tuple[int, ...]) -> None:
        super().__init__(delay_ms)
        self.flag = False
        self.keys = keys

    def try_complete(self) -> bool:
        """Test the flag."""
        return self.flag and self.force_complete()

    def on_complete(self) -> None:
        """Do nothing: the purgatory alone is measured."""

    def on_expiration(self) -> None:
        """Do nothing."""


def measure(pending: int, seed: int, *, collector: bool) -> Cost:
    """Let so many operations live through their lives."""
    source = random.Random(seed)
    clock, executor = ManualClock(0), DeferredExecutor()
    timer = SystemTimer("bench", clock=clock, executor=executor)
    purgatory = DelayedOperationPurgatory[FlagOperation]("bench", timer, reaper_enabled=False)
    before = _resident_bytes()
    operations: list[FlagOperation] = []

    def watch() -> None:
        for _ in range(pending):
            # As many keys as operations: lists are as long whatever the number of operations.
            keys = tuple(source.randrange(pending) for _ in range(KEYS_EACH))
            operation = FlagOperation(source.randint(1, LONGEST_DELAY_MS), keys)
            operations.append(operation)
            purgatory.try_complete_else_watch(operation, keys)

    def complete(chosen: Sequence[FlagOperation]) -> None:
        for operation in chosen:
            operation.flag = True
            purgatory.check_and_complete(operation.keys[0])

    def end() -> None:
        clock.advance(LONGEST_DELAY_MS)
        purgatory.advance_clock(Millis(0))
        executor.run_pending()
        purgatory.purge_completed()

    with garbage_collector(enabled=collector):
        watch_us = microseconds_each(watch, pending)
        peak_bytes = (_resident_bytes() - before) / pending
        triggered = pending * TRIGGERED_PERCENT // 100
        chosen = source.sample(operations, triggered)
        complete_us = microseconds_each(lambda: complete(chosen), triggered)
        end_us = microseconds_each(end, pending)
    left = (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed())
    purgatory.shutdown()
    return Cost(
        pending=pending,
        collector=collector,
        watch_us=watch_us,
        complete_us=complete_us,
        end_us=end_us,
        peak_bytes=None if collector else peak_bytes,
        left=left,
    )


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    parser = bench_parser("purgatory", "Benchmark of the purgatory.", "keys and delays")
    options = parser.parse_args(arguments)
    machine = this_machine()
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, {machine.system}")
    print(f"load {machine.load} at the start; {KEYS_EACH} keys each; seed {options.seed}")
    print("processor time of one operation in microseconds", flush=True)
    costs: list[Cost] = []
    for collector in (False, True):
        print(f"\ngarbage collector {'on' if collector else 'off'}")
        heads = [
            "pending",
            "watch",
            "complete",
            "end",
            "life",
            "life/first",
            "ops a second",
            "bytes",
        ]
        print("".join(f"{head:>13}" for head in heads), flush=True)
        first: Cost | None = None
        for pending in QUICK if options.quick else FULL:
            cost = measure(pending, options.seed, collector=collector)
            first = cost if first is None else first
            costs.append(cost)
            _print_row(cost, first)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB
    print(f"\nlife/first: at most {RATIO_TARGET} is the target; peak memory {peak_mib:,.0f} MiB")
    left = {cost.left for cost in costs}
    print(f"left in the end (watches, keys, time-outs): {', '.join(map(str, sorted(left)))}")
    if options.json is not None:
        document = {
            "schema": "wheelproof.bench/1",
            "machine": asdict(machine),
            "seed": options.seed,
            "peak_mib": peak_mib,
            "costs": [{**asdict(cost), "life_us": cost.life_us} for cost in costs],
        }
        write_json(options.json, document)
    return 0


def _print_row(cost: Cost, first: Cost) -> None:
    times = (cost.watch_us, cost.complete_us, cost.end_us, cost.life_us)
    cells = "".join(f"{value:>13.2f}" for value in times)
    ratio = cost.life_us / first.life_us
    rate = 1_000_000 / cost.life_us
    size = "" if cost.peak_bytes is None else f"{cost.peak_bytes:,.0f}"
    print(f"{cost.pending:>13,}{cells}{ratio:>13.2f}{rate:>13,.0f}{size:>13}", flush=True)


def _resident_bytes() -> int:
    """Return what the process holds now; where that is not told, the most that it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    return pages * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
