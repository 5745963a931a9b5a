"""The recordings of the demo: the implementation, the number of runs, and the program of each."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wheelproof_lab.publish.main_job.kafka import built_adapter
from wheelproof_spec.base.errors import MissingToolError

_THREADS, _OPERATIONS = 3, 30
_LATENESS_MS = 60_000
"""The allowed lateness makes no claim about speed: the demo must pass on a busy machine."""
_MOST_TIMERS, _MOST_PURGATORIES, _MOST_TRACES = 20, 30, 20
"""The most runs of these: each takes half a second, most of it waiting."""
_CALL = "from wheelproof_lab.publish.demo.recording import {0}; {0}({1!r}, {2}, {3})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A program that records `runs` runs."""

    what: str
    runs: int
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """All recordings, the slow ones first; `left_out` says what is not recorded, and why."""

    recordings: tuple[Recording, ...]
    left_out: str = ""

    @property
    def runs(self) -> int:
        """The number of runs that will be recorded."""
        return sum(recording.runs for recording in self.recordings)


def demo_plan(folder: Path, runs: int, seed: int) -> DemoPlan:
    """Return the recordings of about `runs` runs into `folder`.

    If the adapter of Apache Kafka is not built, raises MissingToolError in CI; elsewhere the plan
    leaves it out.
    """
    reference = (sys.executable, "-m", "wheelproof_spec.app.cli", "record")
    loads = [*_loads("reference", reference, folder, runs, seed)]
    adapter, left_out = built_adapter(), ""
    if adapter is not None:
        loads += _loads("kafka", (str(adapter / "run"), "record"), folder, runs, seed)
    elif os.environ.get("CI") == "true":
        raise MissingToolError("adapters/kafka-java, built,", "install Maven and run again")
    else:
        left_out = "Kafka's classes are not recorded: adapters/kafka-java has not been built"
    slow_first = sorted(loads, key=lambda load: load.what.split()[1] not in ("timer", "purgatory"))
    bug, traces = max(runs // 10, 1), min(_MOST_TRACES, max(runs // 50, 1))
    known_bug = str(folder / "known-bug.jsonl")
    return DemoPlan(
        recordings=(
            *slow_first,
            _called("known bug", "record_known_bug", known_bug, bug, seed),
            _called("reference traces", "record_traces", str(folder), traces, seed),
        ),
        left_out=left_out,
    )


def _loads(
    name: str, program: tuple[str, ...], folder: Path, runs: int, seed: int
) -> Iterator[Recording]:
    of_component = {
        "timer": min(_MOST_TIMERS, runs // 50),
        "purgatory": min(_MOST_PURGATORIES, runs // 50),
        "buffer_pool": runs // 3,
        "accumulator": runs // 12,
    }
    for component, number in of_component.items():
        histories = max(number, 1)
        output = str(folder / f"{name}-{component}.jsonl")
        options = {
            "--component": component,
            "--threads": _THREADS,
            "--operations": _OPERATIONS,
            "--histories": histories,
            "--seed": seed,
            "--output": output,
        }
        if component in ("timer", "purgatory"):
            options["--lateness-ms"] = _LATENESS_MS
        words = (str(word) for option in options.items() for word in option)
        yield Recording(what=f"{name} {component}", runs=histories, command=(*program, *words))


def _called(what: str, function: str, path: str, runs: int, seed: int) -> Recording:
    code = _CALL.format(function, path, runs, seed)
    return Recording(what=what, runs=runs, command=(sys.executable, "-c", code))
