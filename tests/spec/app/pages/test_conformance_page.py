"""The page of a conformance run: whole, alone, and every component's failing case drawn."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.pages import whole_page
from support.reference.open_timer import OpenTimer
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.pages.conformance.stages import MOST_STAGES, stages_of
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.drawing import Part, bar, chip
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import Add, TimerClause, TimerConfig
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.components.timer.view import levels
from wheelproof_spec.drive.answers import answers_to
from wheelproof_spec.drive.driver.messages import request_line
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.drive.result import ConformanceFailure

pytestmark = pytest.mark.slow

HEAPQ = ROOT / "adapters" / "python-heapq" / "driver.py"
REFERENCE = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
VIOLATION = Violation(rule="Rule", expected="this", observed="that", reason="why")


def _conform(driver: Path, page: Path, *options: str) -> int:
    command = shlex.join([sys.executable, str(driver)])
    words = ("--cases", "20", "--html", str(page), *options)
    return main(["conform", "--driver", command, *words])


def test_a_failure_is_drawn_and_every_clause_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert _conform(HEAPQ, path, "--profile", "never-early") == ExitCode.FAIL
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "Timer.NeverBeforeItIsDue is broken" in page.text
    assert "--profile never-early --cases 20 --seed 1" in page.text
    for clause in clauses_of(TimerClause, Wire.DRIVEN, "never-early"):
        assert clause in page.text
    assert {"wheel", "hand", "stage", "differs", "steps"} <= set(page.classes)
    assert '"id":1,"op":"reset"' in page.text


def test_a_run_that_passes_has_clauses_and_nothing_to_step_through(tmp_path: Path) -> None:
    path, skip = tmp_path / "page.html", tmp_path / "known.txt"
    skip.write_text("Domain.NegativeDelay  <unsigned> & proud\n", encoding="utf-8")
    assert _conform(HEAPQ, path, "--skip", str(skip)) == ExitCode.PASS
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "known limit: <unsigned> & proud" in page.text
    assert "not applicable" in page.text
    assert "needs Domain.NegativeDelay" in page.text
    assert "stage" not in page.classes


def test_a_driver_that_fails_has_its_last_words_on_the_page(tmp_path: Path) -> None:
    source = HEAPQ.read_text(encoding="utf-8")
    driver, path = tmp_path / "dies.py", tmp_path / "page.html"
    driver.write_text(
        source.replace("        self.adds += 1", "        sys.exit('<full>')"), "utf-8"
    )
    assert _conform(driver, path) == ExitCode.INTERNAL_ERROR
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "The driver failed" in page.text
    assert "<full>" in page.text


@pytest.mark.parametrize(
    ("component", "profile", "calls", "shown"),
    [
        ("timer", "kafka", TIMER.scenarios()[2].calls, "level 0: 20 x 1 ms"),
        ("timer", "hashed-wheel", TIMER.scenarios()[2].calls, "level 0: 20 x 1 ms"),
        ("purgatory", "kafka", PURGATORY.scenarios()[0].calls, "time-outs"),
        ("buffer_pool", "kafka", BUFFER_POOL.scenarios()[0].calls, "free list"),
        ("accumulator", "kafka", ACCUMULATOR.scenarios()[0].calls, "partition 0"),
    ],
)
def test_each_step_of_every_component_has_a_picture(
    component: str, profile: str, calls: tuple[Request, ...], shown: str
) -> None:
    lines = tuple(request_line(number, call) for number, call in enumerate(calls, start=1))
    with DriverSession(REFERENCE) as session:
        session.introduce()
        answers = answers_to(session, lines)
    failure = ConformanceFailure(
        case="case",
        violation=VIOLATION,
        lines=lines,
        answers=answers,
        last_lines=(),
        repeat="again",
    )
    stages = stages_of(component, profile, failure)
    assert len(stages) == len(lines)
    assert all(stage.followed and stage.picture for stage in stages)
    assert shown in stages[-1].picture
    if profile == "kafka":
        assert not [field for stage in stages for field in stage.fields if field.differs]


def test_a_case_that_leaves_the_way_of_the_reference_is_shown_without_pictures() -> None:
    config = {"total_memory": 9, "poolable_size": 3, "start_ms": 0}
    lines = (
        "vector v",
        json.dumps({"id": 1, "op": "reset", "component": "buffer_pool", "config": config}),
        json.dumps({"id": 2, "op": "unheard_of"}),
        json.dumps({"id": 3, "op": "close"}),
    )
    failure = ConformanceFailure(
        case="case",
        violation=VIOLATION,
        lines=lines,
        answers=("", "{}"),
        last_lines=(),
        repeat="again",
    )
    stages = stages_of("buffer_pool", "kafka", failure)
    assert [stage.followed for stage in stages] == [True, False, False]
    assert [stage.answer for stage in stages] == ["ok", "nothing", "nothing"]


def test_of_a_long_case_the_last_steps_are_drawn() -> None:
    reset = request_line(1, TIMER.scenarios()[2].calls[0])
    sizes = tuple(json.dumps({"id": number, "op": "size"}) for number in range(2, 200))
    failure = ConformanceFailure(
        case="case",
        violation=VIOLATION,
        lines=(reset, *sizes),
        answers=(),
        last_lines=(),
        repeat="again",
    )
    stages = stages_of("timer", "kafka", failure)
    assert (len(stages), stages[-1].place) == (MOST_STAGES, 199)


class _Port(ReferenceTimerPort):
    def places(self) -> dict[str, tuple[int, int]]:
        timer = self._port.timer
        assert isinstance(timer, OpenTimer)
        return {
            str(entry.timer_task.delay_ms): (level, number)
            for level, wheel in enumerate(timer.levels())
            for number, bucket in enumerate(wheel.open_buckets())
            for entry in bucket.entries()
        }


def test_a_task_is_drawn_where_the_reference_puts_it() -> None:
    config = TimerConfig(tick_ms=3, wheel_size=4, start_ms=1_000)
    port = _Port(OpenTimer)
    port.perform(Reset(config=config))
    due_ms: dict[str, int] = {}
    for delay_ms in (3, 5, 11, 12, 40, 47, 48, 190, 500):
        port.perform(Add(task=str(delay_ms), delay_ms=delay_ms))
        due_ms[str(delay_ms)] = 1_000 + delay_ms
    drawn = {
        task: (level.number, number)
        for level in levels(config, 1_000, due_ms)
        for number, names in enumerate(level.buckets)
        for task in names
    }
    assert drawn == port.places()


def test_marks_are_escaped_and_as_wide_as_they_are_large() -> None:
    assert chip("<b>") == '<span class="chip" title="&lt;b&gt;">&lt;b&gt;</span>'
    drawn = bar([Part(name="a", size=1, kind="free"), Part(name="b", size=3, kind="open")], "B")
    assert 'width="25.000%"' in drawn
    assert 'x="25.000%"' in drawn
