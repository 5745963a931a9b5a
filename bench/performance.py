"""Benchmark of the speed claims: ``python bench/performance.py [--quick] [--json FILE] [--write]``.

Measures all contestants in one run and prints the medians; with --write it rewrites
docs/sources/performance.md. Times are processor time of one core with the garbage collector off,
unless a table says otherwise. It takes some five minutes.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import buffers
import memory
import purgatories
import timers
from instruments.machine import Machine, this_machine
from instruments.section import Section, bench_parser, measure
from wheelproof_spec.base.results.reports import write_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "sources" / "performance.md"


def main(arguments: Sequence[str]) -> int:
    """Measure and print, and write the files that the options ask for."""
    parser = bench_parser("performance", "Performance claims.", "delays and keys")
    parser.add_argument("--write", action="store_true", help="renew docs/sources/performance.md")
    options = parser.parse_args(arguments)
    machine, began = this_machine(), time.monotonic()
    works = _works(quick=options.quick, seed=options.seed)
    sections = measure(works, machine, seed=options.seed, json=options.json, collector=False)
    if options.write:
        write_text(PAGE, _page(machine, options.seed, sections, time.monotonic() - began))
    return 0


def _works(*, quick: bool, seed: int) -> list[Callable[[], Section]]:
    scale = 20 if quick else 1
    live = [10**digits for digits in (range(2, 4) if quick else range(3, 7))]
    rounds = 1 if quick else 5
    waiting = [10, 100, 1_000] if quick else [100, 1_000, 10_000, 20_000]
    intervals = [100, 10_000]
    return [
        partial(timers.among_many, live, 1 if quick else 3, seed),
        partial(timers.own_cost, 20_000 // scale, rounds, seed),
        partial(timers.cascades, 20_000 // scale, rounds),
        partial(timers.wake_ups, [0, 1, 100, 10_000 // scale], seed),
        partial(timers.adders, 40_000 // scale, [1, 2, 4, 8], rounds),
        partial(
            purgatories.against_a_delay_queue, waiting, intervals, 10_000 // scale, rounds, seed
        ),
        partial(buffers.pooled, 20_000 // scale, rounds),
        partial(memory.waiting, 100_000 // scale, rounds),
        partial(memory.cancelled, 1_000_000 // scale, 1 if quick else 3),
    ]


def _page(machine: Machine, seed: int, sections: Sequence[Section], seconds: float) -> str:
    head = f"""# Performance

Made by `python bench/performance.py --write` on {machine.cpu}, {machine.cores} cores,
{machine.python}, in {seconds:.0f} s, with seed {seed}. Programs that wanted a core, others
included: {machine.load} when it began, {os.getloadavg()[0]:.2f} when it ended.

Processor time with the garbage collector off, unless a table says otherwise. Medians of several
runs, in which those that are compared take turns. The ratios should be alike on other machines; no
test asserts them.

"""
    return head + "\n".join(section.markdown() for section in sections)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
