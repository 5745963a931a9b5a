"""One run of TLC: its command line, its private folders, its report.

Measured on two cores (Java 17, TLC 2.15, two threads of a small model): a run with nothing to
explore takes 0.90 s of wall and 0.97 s of processor time; with ``TieredStopAtLevel=1`` 0.80 s and
0.69 s; models of up to ten seconds are not slower with it. So smoke models run with only the first
compiler, larger ones with both. A class-data archive would save another 0.13 s a run, but need a
cached file that fits jar and Java: not worth it. The choice of garbage collector makes no
measurable difference; TLC asks for the parallel one.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.tlc.manifest.model import Expectation, Model, Tier
from wheelproof_spec.tlc.running.frames import FrameReader
from wheelproof_spec.tlc.running.jar import TlcJar, find_jar
from wheelproof_spec.tlc.running.java import Java, find_java
from wheelproof_spec.tlc.running.memory import MEBIBYTE
from wheelproof_spec.tlc.running.process import Ending, ProcessPool, ProcessResult
from wheelproof_spec.tlc.running.report import ProgressCallback, TlcReport
from wheelproof_spec.tlc.running.report_builder import ReportBuilder
from wheelproof_spec.tlc.running.witnesses import WITNESSED_ROOT, write_witnessed

_ATTEMPTS = 3
"""How often a run that stalls is started in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """The TLC and the Java that judge the models."""

    jar: TlcJar
    java: Java


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use: heap in bytes, wall time in seconds."""

    heap_bytes: int
    seconds: float


LIMITS: Mapping[Tier, Limits] = {
    Tier.SMOKE: Limits(heap_bytes=768 * MEBIBYTE, seconds=120),
    Tier.SMALL: Limits(heap_bytes=2048 * MEBIBYTE, seconds=900),
    Tier.BIG: Limits(heap_bytes=6144 * MEBIBYTE, seconds=6 * 3600),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A search at random: so many behaviours, of so many states at most, drawn from a seed."""

    behaviours: int
    depth: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcRun:
    """One run of TLC that has ended: a complete search, or a `simulation`."""

    ending: Ending
    exit_code: int
    report: TlcReport
    simulation: Simulation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one run beside its cfg.

    `dump` is the file for the state graph, `coverage` asks TLC to count how often each action was
    taken, `simulation` replaces the complete search.
    """

    limits: Limits
    coverage: bool = False
    dump: Path | None = None
    simulation: Simulation | None = None


def find_toolchain(jar: Path | None = None, java: Path | None = None) -> Toolchain:
    """Find TLC and Java from the options, the environment or the installation.

    Raises MissingToolError, InputRejectedError.
    """
    return Toolchain(jar=find_jar(jar, os.environ), java=find_java(java, os.environ))


def run_tlc(
    toolchain: Toolchain,
    pool: ProcessPool,
    model: Model,
    options: RunOptions,
    on_progress: ProgressCallback | None = None,
) -> TlcRun:
    """Run TLC on `model`; everything that it writes, except the dump, is deleted afterwards.

    A full disk, or a Java that no longer starts, is an error of this run alone. A run that stalls
    is started again, since TLC itself can lose a wake-up.
    """
    for _ in range(_ATTEMPTS - 1):
        run = _run_once(toolchain, pool, model, options, on_progress)
        if run.ending is not Ending.STALLED:
            return run
    return _run_once(toolchain, pool, model, options, on_progress)


def _run_once(
    toolchain: Toolchain,
    pool: ProcessPool,
    model: Model,
    options: RunOptions,
    on_progress: ProgressCallback | None,
) -> TlcRun:
    reader = FrameReader()
    builder = ReportBuilder(on_progress)
    try:
        result = _run_in_private_folder(
            toolchain, pool, model, options, lambda lines: builder.consume(reader.read(lines))
        )
    except OSError as error:
        report = TlcReport(errors=[f"TLC could not be run: {error}"])
        return TlcRun(ending=Ending.NOT_STARTED, exit_code=0, report=report)
    return TlcRun(
        ending=result.ending,
        exit_code=result.exit_code,
        report=builder.finish(reader.tail),
        simulation=options.simulation,
    )


def _run_in_private_folder(
    toolchain: Toolchain,
    pool: ProcessPool,
    model: Model,
    options: RunOptions,
    consume: Callable[[Iterator[str]], None],
) -> ProcessResult:
    with tempfile.TemporaryDirectory(prefix="wheelproof-tlc-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        root = _prepare(toolchain, folder, model, options)
        return pool.run(
            command_line(toolchain, model, options, folder, root),
            folder / "spec",
            options.limits.seconds,
            consume,
        )


def command_line(
    toolchain: Toolchain, model: Model, options: RunOptions, folder: Path, root: str
) -> Sequence[str]:
    """Return the command that checks the module `root`, with its private files in `folder`.

    A fixed fingerprint polynomial and seed make the counterexamples of liveness repeatable.
    """
    libraries = dict.fromkeys((model.module_path.parent, *model.library))
    compilers = ["-XX:TieredStopAtLevel=1"] if _is_short(model) else []
    return [
        str(toolchain.java.path),
        f"-Xmx{options.limits.heap_bytes // MEBIBYTE}m",
        "-XX:+UseParallelGC",
        "-XX:-UsePerfData",
        *compilers,
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-DTLA-Library={os.pathsep.join(str(library) for library in libraries)}",
        "-cp",
        str(toolchain.jar.path),
        "tlc2.TLC",
        "-tool",
        # Liveness is checked once, on the whole graph: its traces are then always the same.
        *("-workers", "1", "-fp", "0", "-lncheck", "final", *_search(options.simulation)),
        *(("-coverage", "1") if options.coverage else ()),
        *(("-deadlock",) if not model.check_deadlock else ()),
        *(("-dump", "dot,colorize,actionlabels", str(options.dump)) if options.dump else ()),
        *("-metadir", str(folder / "states")),
        *("-config", f"{root}.cfg", f"{root}.tla"),
    ]


def _search(simulation: Simulation | None) -> Sequence[str]:
    if simulation is None:
        return ("-seed", "0")
    behaviours = f"num={simulation.behaviours}"
    return (
        *("-simulate", behaviours, "-depth", str(simulation.depth)),
        *("-seed", str(simulation.seed)),
    )


def _is_short(model: Model) -> bool:
    """Tell whether the run ends before an optimizing compiler pays off."""
    return model.expect is not Expectation.PASS or model.tier is Tier.SMOKE


def _prepare(toolchain: Toolchain, folder: Path, model: Model, options: RunOptions) -> str:
    """Lay out the folder and return the root module.

    TLC 2.15 finds a cfg only beside the root module, hence the copies.
    """
    for part in ("spec", "tmp", "states"):
        (folder / part).mkdir()
    root, text = model.module, model.cfg.text_for(toolchain.jar.keywords)
    if model.witnesses and options.simulation is None:
        root = WITNESSED_ROOT
        text += "\n" + write_witnessed(folder / "spec", model.module, model.witnesses)
    else:
        shutil.copy(model.module_path, folder / "spec")
    (folder / "spec" / f"{root}.cfg").write_text(text, encoding="utf-8")
    return root
