"""The page of an exploration: its table and data, and its script in a real browser."""

import html
import linecache
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.browser import dump_dom
from support.explore.exploring import make
from wheelproof import sync
from wheelproof_explore.counterexamples.recording import RunRecording
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.page.page import render_exploration, rows_of, source_of, states_of
from wheelproof_explore.program import Program, Scenario
from wheelproof_explore.result import Exploration
from wheelproof_lab.worlds import classics
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_lab.worlds.classics import lost_update, philosophers
from wheelproof_lab.worlds.waiting import readers_and_writers

_RECORDED = Options(record=True)


def _recorded(program: Program) -> tuple[Exploration, RunRecording]:
    found = explore(program, _RECORDED)
    assert found.recording is not None
    return found, found.recording


def test_a_recording_has_the_steps_of_the_counterexample_and_every_state() -> None:
    found, recording = _recorded(make(lost_update))
    assert found.counterexample is not None
    assert [step.text for step in recording.steps] == [
        step.text for step in found.counterexample.steps
    ]
    assert recording.objects == ("counter",)
    assert recording.beginning.values == ("0",)
    assert [step.after.values[0] for step in recording.steps] == ["0", "0", "1", "1"]
    assert recording.changes() == ((), (), ((0, "1"),), ())
    assert recording.steps[-1].after.threads == ("ended", "ended")
    assert recording.failure == found.counterexample.failure


def test_an_exploration_without_the_wish_has_no_recording() -> None:
    found = explore(make(lost_update))
    assert found.recording is None
    with pytest.raises(ValueError, match="without a recording"):
        render_exploration(found)


def test_bars_show_who_holds_which_lock_from_taking_to_giving_back() -> None:
    found, recording = _recorded(make(partial(readers_and_writers, 1, 1, prefer_writers=True)))
    rows = rows_of(found, recording)
    reader = [(bar.phase, bar.shared) for row in rows for bar in row.cells[0].bars]
    writer = [(bar.phase, bar.shared) for row in rows for bar in row.cells[1].bars]
    phases = ["taken", "held", "held", "given"]
    assert reader == [(phase, True) for phase in phases]
    assert writer == [(phase, False) for phase in phases]


def test_a_lock_keeps_its_lane_beside_another_one() -> None:
    def build() -> Scenario:
        outer, inner = sync.lock("outer"), sync.lock("inner")

        def take() -> None:
            with outer:
                for _ in range(2):
                    with inner:
                        pass

        return Scenario(threads={"a": take})

    found, recording = _recorded(make(build))
    lanes = [{bar.name: bar.lane for bar in row.cells[0].bars} for row in rows_of(found, recording)]
    assert lanes[1] == lanes[3] == {"outer": 0, "inner": 1}


def test_threads_that_cannot_go_on_are_marked_with_what_they_wait_for() -> None:
    found, recording = _recorded(make(partial(philosophers, 2, ordered=False)))
    last = rows_of(found, recording)[-1]
    assert [cell.waits for cell in last.cells] == [True, True]
    assert recording.steps[-1].after.threads == (
        "waits to acquire fork 1",
        "waits to acquire fork 0",
    )
    assert [row.instead_of for row in rows_of(found, recording)] == [None, "t0"]


def test_a_thread_that_joins_waits_for_the_end_of_the_other() -> None:
    def build() -> Scenario:
        held = sync.lock("held")
        held.acquire()

        def take() -> None:
            held.acquire()

        def begin_and_join() -> None:
            thread = sync.thread(take, name="other")
            thread.start()
            thread.join()

        return Scenario(threads={"main": begin_and_join})

    _, recording = _recorded(make(build))
    waits = recording.steps[-1].after.threads
    assert waits == ("waits for other to end", "waits to acquire held")


def test_objects_and_threads_may_come_later() -> None:
    def build() -> Scenario:
        def work() -> None:
            cell = sync.volatile(sync, "late")
            cell.set(sync)

        def start() -> None:
            sync.thread(work, "worker").start()

        return Scenario(threads={"a": start})

    _, recording = _recorded(make(build))
    assert recording.threads == ("a", "worker")
    assert recording.beginning.threads == ("next: start worker", "not there yet")
    assert recording.steps[-1].after.values == ("ended", "module 1")


@pytest.mark.parametrize("name", ["readers-writers", "bug/poll-outside-lock", "event-tested-early"])
def test_the_data_of_the_script_lead_from_the_first_state_to_every_other(name: str) -> None:
    _, recording = _recorded(find_program(name))
    states = states_of(recording)
    now = dict(enumerate(states.first))
    for step, changed in zip(recording.steps, states.changes, strict=True):
        now.update(changed)
        assert tuple(now[place] for place in sorted(now)) == step.after.values


class _Cells(HTMLParser):
    """The texts of the cells of the first table, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self.feed(page[page.index('<table class="steps">') : page.index("</table>")])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def test_the_page_is_a_whole_table_without_its_script_and_needs_nothing() -> None:
    found, _ = _recorded(make(lost_update))
    page = render_exploration(found)
    assert _Cells(page).rows == [
        ["step", "t0", "t1", "what it changes"],
        ["1", "counter.get() = 0", "", ""],
        ["2*", "", "counter.get() = 0", ""],
        ["3", "", "counter.set(1)", "counter: 1"],
        ["4", "counter.set(1)", "", ""],
    ]
    assert found.counterexample is not None
    assert found.counterexample.schedule in page
    assert not re.search(r"(src|href)=|url\(|https?:|@import", page)


def test_the_page_of_a_pass_shows_the_certificate() -> None:
    found, _ = _recorded(find_program("readers-writers"))
    page = render_exploration(found)
    assert "The certificate" in page
    assert found.digest in page


def test_names_cannot_break_out_of_the_page() -> None:
    def build() -> Scenario:
        cell = sync.volatile("</script><b>", "<i>name")
        return Scenario(threads={"<u>": partial(cell.set, "</script><b>!")})

    page = render_exploration(_recorded(make(build))[0])
    assert not re.search(r"<(b|u)>|<i>name", page)
    assert page.count("</script>") == 2


def _in_browser(page: str, folder: Path, *, keys: tuple[str, ...] = (), hash_: str = "") -> str:
    """Return what the browser made of the page after the keys."""
    script = "".join(
        f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}));" for key in keys
    )
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return dump_dom(f"{file.as_uri()}{hash_}", folder / "profile")


def _seen(dom: str) -> tuple[str, str, list[str]]:
    """Return the heading of the state, the marked row's number and the values."""
    where = re.search(r'class="where">([^<]*)', dom)
    row = re.search(r'<tr class="[^"]*\bhere\b[^"]*"[^>]*>\s*<th scope="row">([^<]*)', dom)
    assert where is not None
    values = re.findall(r'class="value"[^>]*>([^<]*)', dom)
    return where[1], "" if row is None else row[1], values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "hash_", "seen"),
    [
        # It opens at the first switch.
        ((), "", ("After step 2 of 4", "2*", ["0"])),
        ((), "#step-3", ("After step 3 of 4", "3", ["1"])),
        (("ArrowRight",), "", ("After step 3 of 4", "3", ["1"])),
        (("End", "ArrowLeft"), "", ("After step 3 of 4", "3", ["1"])),
        (("Home", "n"), "", ("After step 2 of 4", "2*", ["0"])),
        (("End", "p", "ArrowLeft"), "", ("After step 1 of 4", "1", ["0"])),
        (("End", "Home", "ArrowLeft"), "", ("Before the first step", "", ["0"])),
    ],
    ids=str,
)
def test_the_script_goes_through_the_run(
    tmp_path: Path, keys: tuple[str, ...], hash_: str, seen: tuple[str, str, list[str]]
) -> None:
    page = render_exploration(_recorded(make(lost_update))[0])
    assert _seen(_in_browser(page, tmp_path, keys=keys, hash_=hash_)) == seen


@pytest.mark.slow
def test_the_buttons_and_the_slider_go_through_the_run(tmp_path: Path) -> None:
    page = render_exploration(_recorded(make(lost_update))[0])
    click = "document.querySelector('[data-to=on]').click();" * 2
    slide = "const s = document.querySelector('nav input'); s.value = 1; "
    slide += "s.dispatchEvent(new Event('input'));"
    for number, (act, heading) in enumerate(((click, "After step 4"), (slide, "After step 1"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        acting = page.replace("</body>", f"<script>{act}</script></body>")
        assert _seen(_in_browser(acting, folder))[0].startswith(heading)


def test_the_source_around_each_step_is_shown() -> None:
    found, recording = _recorded(make(lost_update))
    source = source_of(recording)
    numbers = [line.number for line in source]
    assert numbers == sorted(set(numbers))
    assert {line.name for line in source} == {"classics.py"}
    for step, place in zip(recording.steps, states_of(recording, source).lines, strict=True):
        assert step.line is not None
        assert place is not None
        assert (source[place].number, source[place].text.strip()) == (
            step.line.number,
            step.line.text,
        )
    page = render_exploration(found)
    assert all(line.text.strip() in html.unescape(page) for line in source)


@pytest.mark.slow
def test_the_source_shows_where_each_thread_is(tmp_path: Path) -> None:
    page = render_exploration(_recorded(make(lost_update))[0])
    dom = _in_browser(page, tmp_path, hash_="#step-2")
    marks = re.findall(r'class="next">([^<]+)<', dom)
    assert marks == ["\u25c0 t0, t1"]
    (here,) = re.findall(r'<tr class="code[^"]* here"><th scope="row">(\d+)', dom)
    assert "counter.get()" in linecache.getline(classics.__file__, int(here))


@pytest.mark.slow
def test_the_run_can_be_played(tmp_path: Path) -> None:
    page = render_exploration(_recorded(make(lost_update))[0])
    # Two beats of the clock, without waiting for them.
    clock = "window.setInterval = (beat) => { beat(); beat(); return 1; };"
    play = "document.querySelector('[data-to=play]').click();"
    played = page.replace("</body>", f"<script>{clock}{play}</script></body>")
    assert _seen(_in_browser(played, tmp_path))[0] == "After step 4 of 4"


def test_the_page_has_the_whole_command_that_repeats_the_run() -> None:
    program = replace(make(lost_update), options=" --faults 'a b'")
    found, _ = _recorded(program)
    assert found.counterexample is not None
    assert found.counterexample.command() in html.unescape(render_exploration(found))
    assert "pytest here" in render_exploration(found, "pytest here")
