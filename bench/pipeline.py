"""Benchmark of the pipeline: ``python bench/pipeline.py [--events N] [--json FILE]``.

1. One run of N/2 events: its verdict, and the peak memory of the worker that judges it.
2. Timer runs of 100 events, N/20 and N events in all, from JSON Lines: the work where lines are
   read, the whole verb from files to tables, and once more for `_MORE` lines of new runs.
   Microseconds of processor time for each line.
3. The verb over N/5 events in a process of its own, cold, with local[1], local[2] and a standalone
   cluster of two workers: whether the tables are equal, and how much faster two cores are.
4. N/5 events, and N/50 in runs of ten lines, with plain `check`, the pipeline, and with what only
   reads them: Spark, DuckDB, Polars. Processor time of whole programs; what is not installed is
   not measured.

The parts run one after the other; figures are wall time unless named otherwise. The default, 20
million events, takes about an hour and 20 GB of disk; `--only` names one part: one, many, masters,
beside.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from instruments.family import Cpu, FamilyMeter
from instruments.machine import this_machine
from instruments.pipeline_beside import beside
from instruments.pipeline_runs import write_one_run, write_runs
from instruments.section import Section, bench_parser, measure
from wheelproof_spark.base.listing import LocalFolder
from wheelproof_spark.base.session import spark_session
from wheelproof_spark.base.standalone import standalone_cluster
from wheelproof_spark.check import bronze
from wheelproof_spark.check.gold import TABLES
from wheelproof_spark.check.inputs import plan
from wheelproof_spark.check.job import CheckJob, check
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.rows import collected, read_rows
from wheelproof_spec.history.checkers import MAX_STATES, CheckOptions

PARTS = ("one", "many", "masters", "beside")
COST_TARGET_US = 20
LINEAR_TARGET = 1.2
_MORE = 1_000
_ALIKE = f"<= {LINEAR_TARGET}"
MEMORY_TARGET_MIB = 200
SPEED_UP_TARGET = 1.7


class Figures:
    """The measurements of one part: jobs, and figures with their targets."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._rows: list[tuple[str, ...]] = []
        self._goals: list[str] = []
        self.seconds: list[float] = []

    def took(self, job: str, lines: int, seconds: float, cpu: Cpu | None = None) -> None:
        """Record the wall time of a job over `lines` lines, and its processor time if measured."""
        self.seconds.append(seconds)
        spent = () if cpu is None else (cpu.java + cpu.others, cpu.java)
        cost = [f"{part / lines * 1e6:.1f}" for part in spent] or ["", ""]
        self._rows.append((job, f"{lines:,}", f"{seconds:.1f}", f"{lines / seconds:,.0f}", *cost))

    def timed(self, job: str, lines: int, work: Callable[[], None]) -> float:
        """Measure one job; return the microseconds of processor time for a line."""
        meter = FamilyMeter()
        started, before = time.perf_counter(), meter.cpu()
        with meter.watching():
            work()
        cpu = meter.cpu() - before
        self.took(job, lines, time.perf_counter() - started, cpu)
        return (cpu.java + cpu.others) / lines * 1e6

    def goal(self, name: str, found: float, target: str) -> None:
        """Record a figure and its target."""
        self._goals.append(f"{name}: {found:.2f}, to be {target}")

    def section(self, claim: str) -> Section:
        """Return the measurements as a section."""
        times = ("seconds of wall time", "lines a second", "us CPU a line", "of them Java's")
        head = ("job", "lines", *times)
        rows, goals = tuple(self._rows), tuple(self._goals)
        return Section(title=self._title, claim=claim, head=head, rows=rows, notes=goals)


def one_run(folder: Path, events: int, seed: int, master: str) -> Section:
    """Measure judging one run."""
    figures = Figures("One run")
    source, output = _folders(folder)
    lines = write_one_run(source, events, seed)
    with spark_session(master) as spark:
        job = CheckJob(input=source, output=output, options=CheckOptions())
        figures.timed("pipeline check", lines, lambda: _judged(job))
        peak = worker_peak(spark)
    counts = load(output).counts
    if (counts.runs, counts.passed) != (1, 1):
        raise SystemExit(f"one good run was not judged so: {counts}")
    figures.goal("peak of memory of a worker, MiB", peak, f"<= {MEMORY_TARGET_MIB}")
    return figures.section("The worker that judges it holds no more than it needs.")


def many_runs(folder: Path, events: int, seed: int, master: str) -> Section:
    """Measure the cost of a line, and whether it grows with the number of lines."""
    figures = Figures("Many runs")
    costs: list[tuple[float, float]] = []
    with spark_session(master) as spark:
        for number, size in enumerate((events // 20, events)):
            source, output = _folders(folder / str(number))
            lines = write_runs(source, size, seed)
            costs.append(_stages(figures, spark, source, output, lines))
        peak = worker_peak(spark)
    (small, small_more), (large, large_more) = costs
    figures.goal("us CPU a line, files to tables", large, f"<= {COST_TARGET_US}")
    figures.goal("cost of a line, large / small", large / small, _ALIKE)
    figures.goal("cost of a later line, large / small", large_more / small_more, _ALIKE)
    figures.goal("peak of memory of a worker, MiB", peak, f"<= {MEMORY_TARGET_MIB}")
    return figures.section("A line costs the same, however many there are.")


def _stages(
    figures: Figures, spark: SparkSession, source: Path, output: Path, lines: int
) -> tuple[float, float]:
    """Return the cost of a line, and of one that comes when all others are judged."""
    found, manifest = LocalFolder(source, output), Manifest(profile=None, max_states=MAX_STATES)
    work = plan(found.files(), found.bring, (), manifest, 1)

    def read(most: int | None = None) -> None:
        options = CheckOptions()
        table = bronze.parsed(spark, work.splits[:most], work.split_bytes, options)
        table.write.format("noop").mode("overwrite").save()

    # Warm-up: the first job starts the workers, and Java compiles its hot code.
    read(2)
    figures.timed("read, parse, judge where it is read", lines, read)
    job = CheckJob(input=source, output=output, options=CheckOptions())
    first = figures.timed("pipeline check, files to tables", lines, lambda: _judged(job))
    later = source / "later"
    later.mkdir()
    more = write_runs(later, _MORE, 1, first=lines)
    return first, figures.timed("pipeline check, new runs", more, lambda: _judged(job))


def masters(folder: Path, events: int, seed: int) -> Section:
    """Compare one core with two, and threads of one process with a cluster."""
    figures = Figures("Masters")
    source, _ = _folders(folder)
    lines = write_runs(source, events, seed)
    outputs: dict[str, Path] = {}
    with standalone_cluster(folder / "cluster") as cluster:
        for name, master in (
            ("local[1]", "local[1]"),
            ("local[2]", "local[2]"),
            ("standalone, two workers", cluster.master),
        ):
            outputs[name] = folder / f"out-{len(outputs)}"
            _program(source, outputs[name], master)
            batch = load(outputs[name]).batches[0]
            figures.took(name, lines, batch.seconds)
    one, two, cluster_of_two = figures.seconds
    target = f">= {SPEED_UP_TARGET}"
    figures.goal("local[2] / local[1], speed", one / two, target)
    figures.goal("standalone / local[1], speed", one / cluster_of_two, target)
    digests = {name: _digest(output) for name, output in outputs.items()}
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the tables differ: {digests}")
    return figures.section("Each a program of its own, cold: all tables are identical.")


def _program(source: Path, output: Path, master: str) -> None:
    words = ["pipeline", "check", "--input", source, "--output", output, "--master", master]
    # Each master gets the same number of partitions, so that only the number of cores differs.
    command = [
        sys.executable,
        "-m",
        "wheelproof_spec.app.cli",
        *map(str, words),
        "--partitions",
        "8",
    ]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 1:
        raise SystemExit(f"{master}: exit code {done.returncode}, not 1\n{done.stderr}")


def worker_peak(spark: SparkSession) -> float:
    """Return the peak memory, in MiB, of the worker that used most."""
    schema = pa.schema([("kib", pa.int64())])

    def peaks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            yield pa.RecordBatch.from_arrays([pa.array([peak], pa.int64())], schema=schema)

    cores = spark.sparkContext.defaultParallelism
    asked = spark.range(0, cores, 1, cores).mapInArrow(peaks, "kib long")
    return max(row[0] for row in collected(asked, tuple[int])) / 1024


def _folders(folder: Path) -> tuple[Path, Path]:
    source = folder / "in"
    source.mkdir(parents=True)
    return source, folder / "out"


def _judged(job: CheckJob) -> None:
    counts = check(job).counts
    if counts.quarantined or counts.error or counts.inconclusive:
        raise SystemExit(f"not every run passes or fails: {counts}")


def _rows(output: Path, table: str) -> list[dict[str, object]]:
    return read_rows(output / load(output).tables[table])


def _digest(output: Path) -> str:
    digest = hashlib.sha256()
    for table in TABLES:
        for row in sorted(json.dumps(row) for row in _rows(output, table)):
            digest.update(row.encode())
    return digest.hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    options = _parser().parse_args(arguments)
    seed, master = options.seed, options.master
    events = 4_000 if options.quick else options.events
    parts: dict[str, Callable[[Path], Section]] = {
        "one": lambda folder: one_run(folder, events // 2, seed, master),
        "many": lambda folder: many_runs(folder, events, seed, master),
        "masters": lambda folder: masters(folder, events // 5, seed),
        "beside": lambda folder: beside(folder, events // 5, seed, master),
    }
    works = [partial(_in_folder, parts[name]) for name in options.only or parts]
    measure(works, this_machine(), seed=seed, json=options.json)
    return 0


def _in_folder(part: Callable[[Path], Section]) -> Section:
    with tempfile.TemporaryDirectory(prefix="wheelproof-pipeline-") as folder:
        return part(Path(folder))


def _parser() -> argparse.ArgumentParser:
    parser = bench_parser("pipeline", "Benchmark of the pipeline.", "runs")
    parser.add_argument(
        "--events", type=int, default=20_000_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--master", default="local[*]", metavar="M", help="Spark's master")
    parser.add_argument(
        "--only",
        action="append",
        choices=PARTS,
        help="one of the four; may be given several times",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
