"""Benchmark of the pipeline: ``python bench/pipeline.py [--events N] [--master M] [--json FILE]``.

Writes N events of timers in runs of 100 as JSON Lines, then measures in one session, one after the
other: parsing, shuffling and sorting alone; the same with the checkers; and the verb as a whole,
from files to tables. Wall time; the peak of memory is that of the largest Python worker.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from machine import this_machine
from recorded_runs import timer_lines
from wheelproof_spark import bronze, silver
from wheelproof_spark.check_job import CheckJob, check
from wheelproof_spark.collected import collected
from wheelproof_spark.inputs import plan
from wheelproof_spark.manifest import Manifest
from wheelproof_spark.session import spark_session
from wheelproof_spec.check.checkers import MAX_STATES, CheckOptions
from wheelproof_spec.reports import write_json

SHARE_TARGET = 0.6
_EVENTS_A_RUN = 100
_EVENTS_A_FILE = 500_000
_TEMPLATES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How long a job took over so many lines."""

    job: str
    lines: int
    seconds: float

    @property
    def rate(self) -> float:
        """Lines a second."""
        return self.lines / self.seconds


def write_runs(folder: Path, events: int, seed: int) -> int:
    """Write good runs with `events` lines or a little more; return how many lines."""
    templates = [list(timer_lines(_EVENTS_A_RUN // 2, seed + n)) for n in range(_TEMPLATES)]
    numbers, written = count(), 0
    while written < events:
        goal = min(written + _EVENTS_A_FILE, events)
        with (folder / f"{written:012}.jsonl").open("wb") as stream:
            while written < goal:
                number = next(numbers)
                lines = templates[number % _TEMPLATES]
                stream.writelines(_named(lines, b"h%d" % number))
                written += len(lines)
    return written


def _named(lines: Sequence[bytes], name: bytes) -> Iterator[bytes]:
    field = b'"history":"%s"' % name
    return (line.replace(b'"history":"h"', field, 1) for line in lines)


def timed(job: str, lines: int, work: Callable[[], None]) -> Speed:
    """Measure one job."""
    started = time.perf_counter()
    work()
    speed = Speed(job=job, lines=lines, seconds=time.perf_counter() - started)
    print(f"{job:<34}{speed.seconds:>9.1f} s{speed.rate:>12,.0f} lines/s", flush=True)
    return speed


def measure(spark: SparkSession, source: Path, output: Path, lines: int, cores: int) -> list[Speed]:
    """Measure all jobs over the same files."""
    manifest = Manifest(profile=None, max_states=MAX_STATES)
    work = plan(source, manifest, 1)
    partitions = max(sum(one.size for one in work.files) // (64 << 20), 2 * cores)

    def ordered(most: int | None = None) -> DataFrame:
        parsed = bronze.parsed(spark, work.splits[:most], work.split_bytes).where("kind = 'good'")
        return silver.ordered(silver.scoped(parsed, None), partitions)

    def sink(table: DataFrame) -> None:
        table.write.format("noop").mode("overwrite").save()

    job = CheckJob(input=source, output=output, options=CheckOptions(), partitions=partitions)
    # The first job starts the workers, and Java compiles what it will need.
    sink(ordered(1))
    return [
        timed("parse + shuffle + sort", lines, lambda: sink(ordered())),
        timed(
            "parse + shuffle + sort + check",
            lines,
            lambda: sink(silver.judged(ordered(), CheckOptions(), {})),
        ),
        timed("pipeline check, files to tables", lines, lambda: _whole(job)),
    ]


def _whole(job: CheckJob) -> None:
    counts = check(job).counts
    if counts.passed != counts.runs or counts.quarantined:
        raise SystemExit(f"not every run passes: {counts}")


def worker_peak(spark: SparkSession, cores: int) -> float:
    """Return the peak of memory, in MiB, of the largest of the workers that did the jobs."""

    schema = pa.schema([("kib", pa.int64())])

    def peaks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            yield pa.RecordBatch.from_arrays([pa.array([peak], pa.int64())], schema=schema)

    asked = spark.range(0, cores, 1, cores).mapInArrow(peaks, "kib long")
    return max(row[0] for row in collected(asked, tuple[int])) / 1024


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    options = _parser().parse_args(arguments)
    machine = this_machine()
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, load {machine.load}")
    with tempfile.TemporaryDirectory(prefix="wheelproof-pipeline-") as name:
        source, output = Path(name) / "in", Path(name) / "out"
        source.mkdir()
        lines = write_runs(source, options.events, options.seed)
        size = sum(path.stat().st_size for path in source.iterdir()) / 2**20
        print(f"{lines:,} lines, {size:,.0f} MiB, master {options.master}, seed {options.seed}")
        with spark_session(options.master) as spark:
            cores = spark.sparkContext.defaultParallelism
            speeds = measure(spark, source, output, lines, cores)
            peak = worker_peak(spark, cores)
    share = speeds[0].seconds / speeds[1].seconds
    print(f"with the checkers / without: {share:.2f} of the speed   target: {SHARE_TARGET}")
    print(f"peak of memory of a Python worker {peak:,.0f} MiB")
    if options.json is not None:
        document = {
            "schema": "wheelproof.bench/1",
            "machine": asdict(machine),
            "speeds": [asdict(one) for one in speeds],
            "share": share,
            "worker_peak_mib": peak,
        }
        write_json(options.json, document)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/pipeline.py", description="Benchmark of the pipeline."
    )
    parser.add_argument(
        "--events", type=int, default=1_000_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--master", default="local[*]", metavar="M", help="Spark's master")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
