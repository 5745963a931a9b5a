"""Benchmark of the pipeline: ``python bench/pipeline.py [--events N] [--json FILE]``.

1. One run of N/2 events: its verdict, and the peak of memory of the worker that judges it.
2. N/20 and N events of timers in runs of 100, from JSON Lines: what is done where lines are read;
   the verb as a whole, from files to tables. Microseconds of a processor for each line.
3. The verb over N/5 events as a program of its own, cold, with local[1], local[2] and a standalone
   cluster of two workers: are the tables the same, and how much faster are two?
4. `wheelproof check` over N/20 events: are the verdicts the same?

All of it one after the other. The default, 20 million, takes about an hour and 20 GB
of disk; `--only` names one part: one, many, masters, check.
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
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from instruments.family import Cpu, family_cpu
from instruments.machine import this_machine
from instruments.pipeline_runs import write_one_run, write_runs
from wheelproof_spark.base.session import spark_session
from wheelproof_spark.base.standalone import standalone_cluster
from wheelproof_spark.check import bronze
from wheelproof_spark.check.gold import TABLES
from wheelproof_spark.check.inputs import plan
from wheelproof_spark.check.job import CheckJob, check
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.rows import collected, read_rows
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.reports import write_json
from wheelproof_spec.engines.history.checkers import MAX_STATES, CheckOptions
from wheelproof_spec.engines.history.reader import read_lines

PARTS = ("one", "many", "masters", "check")
COST_TARGET_US = 20
LINEAR_TARGET = 1.2
MEMORY_TARGET_MIB = 200
SPEED_UP_TARGET = 1.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How long a job took over so many lines, and the time of processors that Java and Python had.

    The latter is what a line costs: other programs change it little.
    """

    job: str
    lines: int
    seconds: float
    java: float = 0.0
    python: float = 0.0

    @property
    def cpu_us(self) -> float:
        """Microseconds of a processor for a line."""
        return (self.java + self.python) / self.lines * 1e6

    @property
    def rate(self) -> float:
        """Lines a second."""
        return self.lines / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure, and what it should be."""

    name: str
    found: float
    target: str


class Figures:
    """What was measured, printed as it comes."""

    def __init__(self) -> None:
        self.speeds: list[Speed] = []
        self.goals: list[Goal] = []

    def speed(self, job: str, lines: int, seconds: float, cpu: Cpu | None = None) -> Speed:
        """Note how long a job took."""
        java, python = (0.0, 0.0) if cpu is None else (cpu.java, cpu.others)
        found = Speed(job=job, lines=lines, seconds=seconds, java=java, python=python)
        self.speeds.append(found)
        told = f"  {job:<38}{seconds:>8.1f} s{found.rate:>11,.0f} lines/s"
        if cpu is not None:
            of_java = java / lines * 1e6
            told += f"{found.cpu_us:>7.1f} us CPU a line, {of_java:.1f} of them Java's"
        print(told, flush=True)
        return found

    def timed(self, job: str, lines: int, work: Callable[[], None]) -> Speed:
        """Measure one job."""
        started, before = time.perf_counter(), family_cpu()
        work()
        return self.speed(job, lines, time.perf_counter() - started, family_cpu() - before)

    def goal(self, name: str, found: float, target: str) -> None:
        """Note a figure."""
        self.goals.append(Goal(name=name, found=found, target=target))
        print(f"  {name:<44}{found:>9.2f}     goal: {target}", flush=True)


def one_run(figures: Figures, folder: Path, events: int, seed: int, master: str) -> None:
    """Judge one run."""
    source, output = _folders(folder)
    lines = write_one_run(source, events, seed)
    print(f"one run of {lines:,} lines")
    with spark_session(master) as spark:
        job = CheckJob(input=source, output=output, options=CheckOptions())
        figures.timed("pipeline check", lines, lambda: _judged(job))
        peak = worker_peak(spark)
    counts = _manifest(output).counts
    if (counts.runs, counts.passed) != (1, 1):
        raise SystemExit(f"one good run was not judged so: {counts}")
    figures.goal("peak of memory of a worker, MiB", peak, f"<= {MEMORY_TARGET_MIB}")


def many_runs(figures: Figures, folder: Path, events: int, seed: int, master: str) -> None:
    """Measure what a line costs, and whether that grows."""
    costs: list[float] = []
    with spark_session(master) as spark:
        for number, size in enumerate((events // 20, events)):
            source, output = _folders(folder / str(number))
            lines = write_runs(source, size, seed)
            stored = sum(path.stat().st_size for path in source.iterdir()) / 2**20
            print(f"{lines:,} lines, {stored:,.0f} MiB")
            whole = _stages(figures, spark, source, output, lines)
            costs.append(whole.cpu_us)
        peak = worker_peak(spark)
    figures.goal("us CPU a line, files to tables", costs[1], f"<= {COST_TARGET_US}")
    figures.goal("cost of a line, large / small", costs[1] / costs[0], f"<= {LINEAR_TARGET}")
    figures.goal("peak of memory of a worker, MiB", peak, f"<= {MEMORY_TARGET_MIB}")


def _stages(
    figures: Figures, spark: SparkSession, source: Path, output: Path, lines: int
) -> Speed:
    work = plan(source, Manifest(profile=None, max_states=MAX_STATES), 1)

    def read(most: int | None = None) -> None:
        options = CheckOptions()
        table = bronze.parsed(spark, work.splits[:most], work.split_bytes, options)
        table.write.format("noop").mode("overwrite").save()

    # The first job starts the workers, and Java compiles what it will need.
    read(2)
    figures.timed("read, parse, judge where it is read", lines, read)
    job = CheckJob(input=source, output=output, options=CheckOptions())
    return figures.timed("pipeline check, files to tables", lines, lambda: _judged(job))


def masters(figures: Figures, folder: Path, events: int, seed: int) -> None:
    """Compare one core with two, and threads of one process with a cluster."""
    source, _ = _folders(folder)
    lines = write_runs(source, events, seed)
    print(f"{lines:,} lines, each master a program of its own")
    outputs: dict[str, Path] = {}
    with standalone_cluster(folder / "cluster") as cluster:
        for name, master in (
            ("local[1]", "local[1]"),
            ("local[2]", "local[2]"),
            ("standalone, two workers", cluster.master),
        ):
            outputs[name] = folder / f"out-{len(outputs)}"
            _program(source, outputs[name], master)
            batch = _manifest(outputs[name]).batches[0]
            figures.speed(name, lines, batch.seconds)
    one, two, cluster_of_two = figures.speeds[-3:]
    target = f">= {SPEED_UP_TARGET}"
    figures.goal("local[2] / local[1], speed", one.seconds / two.seconds, target)
    figures.goal("standalone / local[1], speed", one.seconds / cluster_of_two.seconds, target)
    digests = {name: _digest(output) for name, output in outputs.items()}
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the tables differ: {digests}")
    print("  all tables are identical")


def _program(source: Path, output: Path, master: str) -> None:
    words = ["pipeline", "check", "--input", source, "--output", output, "--master", master]
    # The same number of parts for all, so that only the number of hands differs.
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


def against_check(figures: Figures, folder: Path, events: int, seed: int, master: str) -> None:
    """Compare the verdicts with those of `wheelproof check`."""
    source, output = _folders(folder)
    lines = write_runs(source, events, seed)
    print(f"{lines:,} lines, the pipeline against `wheelproof check`")
    expected: set[tuple[object, ...]] = set()

    def judge() -> None:
        for path in sorted(source.iterdir()):
            result = judge_lines(str(path), read_lines(path))
            for run in result.verdicts:
                rule = None if run.violation is None else run.violation.rule
                expected.add((run.run, run.verdict.value, run.events, run.good_prefix, rule))

    figures.timed("wheelproof check, one process", lines, judge)
    with spark_session(master):
        job = CheckJob(input=source, output=output, options=CheckOptions())
        figures.timed("pipeline check", lines, lambda: _judged(job))
    columns = ("run", "verdict", "events", "good_prefix", "rule")
    rows = _rows(output, "verdicts")
    if {tuple(row[name] for name in columns) for row in rows} != expected:
        raise SystemExit("the verdicts differ")
    print(f"  all {len(expected):,} verdicts are identical")


def worker_peak(spark: SparkSession) -> float:
    """Return the peak of memory, in MiB, of the largest of the workers that did the jobs."""
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


def _manifest(output: Path) -> Manifest:
    manifest = load(output)
    if manifest is None:
        raise SystemExit(f"{output} has no manifest")
    return manifest


def _rows(output: Path, table: str) -> list[dict[str, object]]:
    return read_rows(output / _manifest(output).tables[table])


def _digest(output: Path) -> str:
    digest = hashlib.sha256()
    for table in TABLES:
        for row in sorted(json.dumps(row) for row in _rows(output, table)):
            digest.update(row.encode())
    return digest.hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    options = _parser().parse_args(arguments)
    machine = this_machine()
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, load {machine.load}")
    print(f"{options.events:,} events, seed {options.seed}, master {options.master}")
    figures, seed, events = Figures(), options.seed, options.events
    parts: dict[str, Callable[[Path], None]] = {
        "one": lambda folder: one_run(figures, folder, events // 2, seed, options.master),
        "many": lambda folder: many_runs(figures, folder, events, seed, options.master),
        "masters": lambda folder: masters(figures, folder, events // 5, seed),
        "check": lambda folder: against_check(figures, folder, events // 20, seed, options.master),
    }
    for name in options.only or parts:
        with tempfile.TemporaryDirectory(prefix="wheelproof-pipeline-") as folder:
            parts[name](Path(folder))
    if options.json is not None:
        document = {
            "schema": "wheelproof.bench/1",
            "machine": asdict(machine),
            "events": events,
            "seed": seed,
            "speeds": [asdict(speed) for speed in figures.speeds],
            "goals": [asdict(goal) for goal in figures.goals],
        }
        write_json(options.json, document)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/pipeline.py", description="Benchmark of the pipeline."
    )
    parser.add_argument(
        "--events", type=int, default=20_000_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--master", default="local[*]", metavar="M", help="Spark's master")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the runs")
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="one of the four; may be given several times"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
