"""Runs TLC on recorded traces and reads how many events of each trace it explained."""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_lab.trace.tlc_module import (
    MODULE,
    REACHED,
    RecordedTrace,
    trace_module,
)
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.tlc.manifest.loader import library
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.running.process import Ending, ProcessPool

SECONDS = 600
_HEAP = "-Xmx1g"
_REACHED = re.compile(rf'<<"{REACHED}", (\d+), (\d+)>>')
_LAST_LINES = 12


class TlcTraceError(WheelproofSpecError):
    """TLC could not judge the traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcOpinion:
    """The number of a trace's events that TLC could explain, and the number of all its events."""

    good: int
    events: int

    @property
    def accepts(self) -> bool:
        """Whether TLC found an explanation of the whole trace."""
        return self.good == self.events


def judge_with_tlc(
    toolchain: Toolchain,
    config: TimerConfig,
    traces: Sequence[RecordedTrace],
) -> list[TlcOpinion]:
    """Return TLC's opinion on each trace; all are of timers with the same configuration.

    Raises UsageError for traces that TLC cannot judge, TlcTraceError if TLC does not end
    normally after it has tried everything.
    """
    module, cfg = trace_module(config, traces)
    reached = [0] * len(traces)
    last: list[str] = []

    def consume(lines: Iterator[str]) -> None:
        for line in lines:
            found = _REACHED.search(line)
            if found is None:
                last.append(line.rstrip())
                del last[:-_LAST_LINES]
            else:
                number, done = int(found[1]) - 1, int(found[2])
                reached[number] = max(reached[number], done)

    with tempfile.TemporaryDirectory(prefix="wheelproof-traces-") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        (folder / f"{MODULE}.tla").write_text(module, encoding="utf-8")
        (folder / f"{MODULE}.cfg").write_text(cfg, encoding="utf-8")
        result = ProcessPool().run(_command(toolchain, folder), folder, SECONDS, consume)
    if result.ending is not Ending.EXITED or result.exit_code != 0:
        story = "\n".join(last)
        raise TlcTraceError(
            f"TLC could not judge the traces ({result.ending.value}, exit code "
            f"{result.exit_code}):\n{story}"
        )
    return [
        TlcOpinion(good=good, events=len(trace.steps))
        for good, trace in zip(reached, traces, strict=True)
    ]


def _command(toolchain: Toolchain, folder: Path) -> list[str]:
    modules = [str(place) for place in library(tla_directory() / "manifest.toml")]
    return [
        str(toolchain.java.path),
        _HEAP,
        "-XX:+UseSerialGC",
        "-Xss16m",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-DTLA-Library={os.pathsep.join(modules)}",
        "-cp",
        str(toolchain.jar.path),
        "tlc2.TLC",
        *("-workers", "1", "-fp", "0", "-deadlock"),
        *("-metadir", str(folder / "states")),
        *("-config", f"{MODULE}.cfg", f"{MODULE}.tla"),
    ]
