"""What it costs to judge recorded runs with the pipeline, beside other programs on the same lines.

Each program is a process of its own, cold, and the figure is the processor time of it and of all
that it starts. Those that only read parse each line as JSON and count the lines of each run.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from instruments.family import FamilyMeter
from instruments.pipeline_runs import EVENTS_A_RUN, write_runs
from instruments.section import Section

_TINY = 10
_COUNTED = "select history, count(*) from lines group by history"
_SPARK = f"""
import sys
from wheelproof_spark.base.session import spark_session
with spark_session(sys.argv[2]) as spark:
    lines = spark.read.schema("kind string, history string").json(sys.argv[1])
    lines.createOrReplaceTempView("lines")
    spark.sql("{_COUNTED}").write.format("noop").mode("overwrite").save()
"""
_DUCKDB = f"""
import duckdb, sys
lines = duckdb.read_json(sys.argv[1] + "/*.jsonl", columns={{"kind": "text", "history": "text"}})
duckdb.sql("{_COUNTED}").fetchall()
"""
_POLARS = """
import polars, sys
kinds = {"kind": polars.String, "history": polars.String}
lines = polars.scan_ndjson(sys.argv[1] + "/*.jsonl", schema=kinds)
lines.group_by("history").len().collect()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    """A program that takes a folder of lines; without `package` it is not measured."""

    name: str
    commands: Callable[[Path], Sequence[Sequence[str]]]
    package: str = "wheelproof_spec"
    finds: int = 0
    """The exit code: 1 if it judges, since one run in fifty breaks a rule."""


def beside(folder: Path, events: int, seed: int, master: str) -> Section:
    """Measure the programs on runs of 100 lines, and on a tenth as many lines in tiny runs."""
    rows: list[tuple[str, ...]] = []
    programs = _programs(master)
    for lines_a_run, size in ((EVENTS_A_RUN, events), (_TINY, events // 10)):
        source = folder / f"runs-of-{lines_a_run}"
        source.mkdir(parents=True)
        lines = write_runs(source, size, seed, events_a_run=lines_a_run)
        for program in programs:
            spent = _spent(program, source)
            figures = ["not measured"] * 2
            if spent is not None:
                figures = [f"{spent:.1f}", f"{spent / lines * 1e6:.1f}"]
            rows.append((program.name, f"{lines_a_run}", f"{lines:,}", *figures))
    head = ("program", "lines a run", "lines", "seconds CPU", "us CPU a line")
    load = f"load {os.getloadavg()[0]:.2f} at the end"
    claim = "Judging beside mere reading; each program cold, its start counted."
    return Section(title="Beside others", claim=claim, head=head, rows=tuple(rows), notes=(load,))


def _programs(master: str) -> tuple[_Program, ...]:
    def judges(source: Path) -> Sequence[Sequence[str]]:
        files = sorted(map(str, source.glob("*.jsonl")))
        halves = [half for half in (files[::2], files[1::2]) if half]
        return [["-m", "wheelproof_spec", "check", "--quiet", *half] for half in halves]

    def judges_on_spark(source: Path) -> Sequence[Sequence[str]]:
        output = str(source.with_suffix(".out"))
        words = ["--input", str(source), "--output", output, "--master", master]
        return [["-m", "wheelproof_spec", "pipeline", "check", *words]]

    def reads(program: str) -> Callable[[Path], Sequence[Sequence[str]]]:
        return lambda source: [["-c", program, str(source), master]]

    return (
        _Program(name="wheelproof check, two processes", commands=judges, finds=1),
        _Program(
            name="wheelproof pipeline check", commands=judges_on_spark, package="pyspark", finds=1
        ),
        _Program(name="Spark, read and count", commands=reads(_SPARK), package="pyspark"),
        _Program(name="DuckDB, read and count", commands=reads(_DUCKDB), package="duckdb"),
        _Program(name="Polars, read and count", commands=reads(_POLARS), package="polars"),
    )


def _spent(program: _Program, source: Path) -> float | None:
    """Return the seconds of processor time; None if the program is not there."""
    if importlib.util.find_spec(program.package) is None:
        return None
    meter = FamilyMeter()
    before, waited_for = meter.cpu(), _of_children()
    with meter.watching():
        running = [
            subprocess.Popen(
                [sys.executable, *command],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            )
            for command in program.commands(source)
        ]
        said = [process.communicate()[1] for process in running]
    codes = [process.returncode for process in running]
    if set(codes) != {program.finds}:
        raise SystemExit(f"{program.name}: exit codes {codes}, not {program.finds}\n{said}")
    # The meter has what it saw last of a process that has ended, up to half a second before. The
    # system has all of it, but only of processes whose parent waited for them: Java has none.
    spent = meter.cpu() - before
    return max(spent.java + spent.others, _of_children() - waited_for)


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
