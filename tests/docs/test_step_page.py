"""docs/site/step.html moves as the reference does, and names actions and lines that there are."""

import json
import random
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import seeds
from support.checkout import REFERENCE, ROOT
from support.node import ask_model, model_command
from support.reference.open_timer import OpenBucket, OpenTimer
from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import TimerTask
from wheelproof.units import Millis
from wheelproof_lab.trace.recorder import tracing
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.components.timer.component import TimerConfig

pytestmark = pytest.mark.slow

Wheels = list[tuple[int, list[tuple[int, list[str]]]]]
"""Of each wheel its clock and its buckets: when each expires, and what is in it."""
_CONFIG = TimerConfig(tick_ms=2, wheel_size=3)


@pytest.mark.parametrize("component", ["timer", "purgatory", "buffer_pool"])
def test_the_model_of_the_page_is_judged_as_any_implementation(
    component: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("conform", "--component", component, "--cases", "100", "--seed", "20")
    code = main([*words, "--driver", shlex.join(model_command("drive"))])
    assert code == ExitCode.PASS, capsys.readouterr().out


def test_a_mistake_in_the_model_is_found(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "site" / "step.html").read_text(encoding="utf-8")
    wrong = page.replace("if (kept) this.free += 1;", "if (kept) this.free += 2;")
    assert wrong != page
    (tmp_path / "wrong.html").write_text(wrong, encoding="utf-8")
    driver = shlex.join(model_command("drive", tmp_path / "wrong.html"))
    words = ("conform", "--component", "buffer_pool", "--cases", "5", "--quiet")
    assert main([*words, "--driver", driver]) == ExitCode.FAIL


def test_every_step_has_its_action_and_its_line() -> None:
    modules = {path.stem: path.read_text("utf-8") for path in (ROOT / "tla").glob("*/*.tla")}
    for step, where in ask_model("where").items():
        module, action = step.split(".")
        assert re.search(rf"^{action}(\(\w+\))? ==", modules[module], re.MULTILINE), step
        if where is not None:
            file, function, line = where
            text = (REFERENCE / "wheelproof" / file).read_text(encoding="utf-8")
            bodies = re.findall(
                rf"^    def {function}\(.*?(?=^    def |\Z)", text, re.MULTILINE | re.DOTALL
            )
            assert any(line in body for body in bodies), f"{step}: {where}"


def test_every_step_that_the_model_takes_has_a_place() -> None:
    page = (ROOT / "docs" / "site" / "step.html").read_text(encoding="utf-8")
    taken = set(re.findall(r'yield \["(\w+\.\w+)"', page))
    assert len(taken) > 40
    assert taken <= set(ask_model("where"))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(5))
def test_the_wheels_of_the_page_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    trace, case = tmp_path / "trace.jsonl", tmp_path / "case.jsonl"
    calls = list(_calls(random.Random(seeds.seed(0) + seed)))
    with tracing(trace, _CONFIG):
        reference = _Followed()
        states = [reference.after(operation, arguments) for operation, arguments in calls]
    reset = {"op": "reset", "component": "timer", "config": {"tick_ms": 2, "wheel_size": 3}}
    lines = [reset, *({"op": operation, "args": arguments} for operation, arguments in calls)]
    case.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (driven,), (recorded,) = ask_model("play", str(case)), ask_model("play", str(trace))
    answered = [frame["state"] for frame in driven["frames"] if "answer" in frame]
    assert [_shown(state) for state in answered] == states
    # A trace has names of its own for the tasks.
    assert _numbers(_shown(recorded["frames"][-1]["state"])) == _numbers(states[-1])


def test_everything_that_can_be_loaded_is_loaded(tmp_path: Path) -> None:
    heap = shlex.join([sys.executable, str(ROOT / "adapters/python-heapq/driver.py")])
    made = {
        "conform.json": [
            "conform",
            "--driver",
            heap,
            "--profile",
            "never-early",
            "--cases",
            "1",
            "--json",
        ],
        "explore.json": ["explore", "bug/test-then-submit", "--json"],
        "history.jsonl": ["record", "--component", "buffer_pool", "--operations", "40", "--output"],
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for name, words in made.items():
        main([*words, str(tmp_path / name), "--quiet"])
        found[name] = ask_model("play", str(tmp_path / name))
    vectors = (ROOT / "vectors/timer-edges-overflow.jsonl").read_text(encoding="utf-8")
    (tmp_path / "vectors").write_text("".join(vectors.splitlines(keepends=True)[:20]))
    found["vectors"] = ask_model("play", str(tmp_path / "vectors"))
    assert len(found["vectors"]) == 20
    assert all(len(item["frames"]) > 1 for items in found.values() for item in items)
    (case, *_) = found["conform.json"]
    assert case["calls"][-1]["said"] == {"fired": ["t11"]}
    (story,) = found["explore.json"]
    assert [frame["call"] + 1 for frame in story["frames"] if frame["turn"]] == story["switches"]
    (history,) = found["history.jsonl"]
    assert {call["op"] for call in history["calls"]} >= {"allocate", "deallocate"}


def _calls(chance: random.Random) -> Iterator[tuple[str, dict[str, object]]]:
    now_ms = 0
    for _ in range(60):
        task = chance.choice("abcdef")
        match chance.randrange(5):
            case 0 | 1:
                yield "add", {"task": task, "delay_ms": chance.choice((-1, 0, 1, 3, 7, 20, 70))}
            case 2:
                yield "cancel", {"task": task}
            case _:
                now_ms += chance.choice((0, 1, 2, 5, 30))
                yield "advance", {"to_ms": now_ms}


class _Task(TimerTask):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(0)
        self.name = name

    def run(self) -> None:
        """Nothing is to be done."""


class _Followed:
    """A timer of the reference, and what its wheels hold after each call."""

    def __init__(self) -> None:
        self._clock = ManualClock()
        self._timer = OpenTimer(
            "followed", tick_ms=2, wheel_size=3, clock=self._clock, executor=DeferredExecutor()
        )
        self._tasks = {name: _Task(name) for name in "abcdef"}

    def after(self, operation: str, arguments: dict[str, Any]) -> Wheels:
        if operation == "advance":
            self._clock.advance_to(arguments["to_ms"])
            self._timer.advance_clock(Millis(0))
        elif operation == "add":
            task = self._tasks[arguments["task"]]
            task.delay_ms = Millis(arguments["delay_ms"])
            self._timer.add(task)
        else:
            self._tasks[arguments["task"]].cancel()
        return [
            (wheel.current_time_ms, [_bucket(bucket) for bucket in wheel.open_buckets()])
            for wheel in self._timer.levels()
        ]


def _bucket(bucket: OpenBucket) -> tuple[int, list[str]]:
    held = [entry.timer_task for entry in bucket.entries()]
    return bucket.get_expiration(), [task.name for task in held if isinstance(task, _Task)]


def _numbers(wheels: Wheels) -> object:
    return [
        (clock, [(key, len(tasks)) for key, tasks in buckets if tasks]) for clock, buckets in wheels
    ]


def _shown(state: Any) -> Wheels:
    """Return what the page shows of the wheels."""
    return [
        (wheel["clock"], [(bucket["key"], bucket["tasks"]) for bucket in wheel["buckets"]])
        for wheel in state["wheels"]
    ]
