"""Each page in a browser, at the width of a phone and of a desk, light and dark."""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from support.browser import browser, dump_dom, look_at, move
from support.checkout import ROOT
from support.node import PAGE
from wheelproof_lab.detect.matrix import html_page
from wheelproof_lab.detect.mutation.cells import read_outcomes
from wheelproof_lab.publish.main_job.sections import JobReport, Section, render_page
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict

_WIDTHS = (390, 1280)


def _checks(*verdicts: Verdict) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(
            name=f"MCEntryMigration_entry_monitor_dropped_{number}",
            group="browser",
            verdict=verdict,
            seconds=0.5,
            summary="fails as it must: 1,569 steps, bug: KAFKA-1234, EntryInOneListAtMost",
            details="the whole story, which has a long line " * 9,
        )
        for number, verdict in enumerate(verdicts)
    )


def _report() -> str:
    sections = tuple(
        Section(title=f"Section {name}", edge="oracle and reference", subject="s", results=checks)
        for name, checks in (
            ("that passes", _checks(Verdict.PASS, Verdict.PASS)),
            ("that fails", _checks(Verdict.PASS, Verdict.FAIL)),
            ("that did not run", ()),
        )
    )
    return render_page(JobReport(sections=sections, machine="m", seed=1, seconds=2), "today")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    browser()
    folder = tmp_path_factory.mktemp("made")
    driver = shlex.join([sys.executable, str(ROOT / "adapters/python-heapq/driver.py")])
    history = folder / "history.jsonl"
    main(["record", "--component", "timer", "--output", str(history), "--operations", "200"])
    history.write_text(re.sub(r'"size":\d+', '"size":1000000', history.read_text(), count=1))
    verbs = {
        "explore": ["explore", "bug/test-then-submit"],
        "conform": ["conform", "--profile", "never-early", "--driver", driver, "--cases", "1"],
        "check": ["check", str(history)],
    }
    for verb, words in verbs.items():
        main([*words, "--quiet", "--html", str(folder / f"{verb}.html")])
    made = {verb: (folder / f"{verb}.html").read_text(encoding="utf-8") for verb in verbs}
    outcomes = list(read_outcomes(ROOT / "docs/detection/outcomes.jsonl"))
    return {
        **made,
        "bugs": html_page(outcomes),
        "report": _report(),
        "step": PAGE.read_text(encoding="utf-8"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "dark", [pytest.param(False, id="light"), pytest.param(True, id="dark", marks=pytest.mark.long)]
)
def test_pages_shut_nobody_out(pages: Mapping[str, str], tmp_path: Path, *, dark: bool) -> None:
    looked = look_at(pages, _WIDTHS, tmp_path, dark=dark)
    assert len(looked) == len(pages) * len(_WIDTHS)
    for seen in looked:
        where = f"{seen.page} at {seen.width}"
        assert seen.problems == (), where
        assert seen.content <= seen.width, f"{where} scrolls sideways"


@pytest.mark.slow
def test_a_page_that_shuts_somebody_out_is_found(tmp_path: Path) -> None:
    page = (
        '<!doctype html><html><body><img src="x"><div style="width:900px">wide</div></body></html>'
    )
    (seen,) = look_at({"bad": page}, (390,), tmp_path, dark=False)
    assert seen.content >= 900
    assert any(problem.startswith("image-alt") for problem in seen.problems)


_BY_HAND = """
<pre id="seen"></pre><script>
const seen = [], note = () => seen.push(["words", "action", "code", "answer", "where"].map(
  (id) => document.getElementById(id).textContent));
const press = (key) => { document.body.dispatchEvent(new KeyboardEvent("keydown",
  { key, bubbles: true })); note(); };
["Home", "ArrowRight", "PageDown", "End"].forEach(press);
document.querySelector("input[value=purgatory]").click();
const form = [...document.querySelectorAll("form")].find(
  (one) => one.textContent.startsWith("force_complete"));
form.elements.operation.value = "nobody";
form.requestSubmit();
note();
load("not a file of ours");
seen.push(document.getElementById("error").textContent);
document.getElementById("seen").textContent = JSON.stringify(seen);
</script></body>"""


@pytest.mark.slow
def test_the_page_to_step_through_is_moved_by_hand(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8").replace("</body>", _BY_HAND)
    (tmp_path / "step.html").write_text(page, encoding="utf-8")
    dom = dump_dom((tmp_path / "step.html").as_uri(), tmp_path / "profile")
    told = re.search('<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert told is not None
    start, step, call, end, refused, problem = json.loads(unescape(told[1]))
    assert start[0] == "a new one, with nothing in it"
    assert step[1:3] == ["SystemTimer!LockRead", _LOCK]
    assert start[4].startswith("Step 0 of")
    assert (call[0], call[4]) == ("adders share the read side of the lock", "Step 9 of 81")
    assert (end[0], end[3]) == ("advance_clock returns", "fired [c]")
    assert refused[3] == "error UnknownOperation: no operation nobody was handed in"
    assert problem.startswith("this is no file that the page can read")


_OPENED = """
await whole("a[href*='case=']");
// The second case: a right timer runs the first one's task in its add already.
page().querySelectorAll("a[href*='case=']")[1].click();
await until(() => part("words")?.textContent);
const seen = [text("title"), text("where"), text("way")];
press("[data-to=last]");
seen.push(text("where"), text("answer"), text("other"), part("other").className);
part("way").firstElementChild.click();
await until(() => page().readyState === "complete" && !part("words"));
return [...seen, page().querySelector("h1").textContent];
"""


@pytest.mark.slow
def test_a_failing_case_opens_in_the_step_page_by_one_click(tmp_path: Path) -> None:
    source = (ROOT / "adapters/python-heapq/driver.py").read_text(encoding="utf-8")
    wrong = source.replace("self.heap[0][0] <= self.now_ms", "self.heap[0][0] < self.now_ms")
    assert wrong != source
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    driver = shlex.join([sys.executable, str(tmp_path / "wrong.py")])
    words = ["conform", "--driver", driver, "--cases", "1", "--quiet"]
    assert main([*words, "--html", str(tmp_path / "report.html")]) == ExitCode.FAIL
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "did not happen: fired" in report
    assert "did not run, due at" in report
    told = move(tmp_path / "report.html", _OPENED, tmp_path / "profile")
    title, begin, way, end, answer, said, marks, back = told
    assert "returned without running it" in title
    assert begin.startswith("Step 0 of")
    assert end == f"Step {begin.split()[-1]} of {begin.split()[-1]}"
    assert answer.startswith("fired [")
    assert said == "The implementation answered: ok"
    assert "wrong" in marks
    assert (way, back.split()[:2]) == ("Back to the report", ["timer", "of"])


_PLAYED = """
await whole("#words");
const seen = [text("where")], place = () => frame.contentWindow.location.hash;
press("[data-to=last]");
press("[data-to=play]");
seen.push(page().querySelector("[data-to=play]").textContent, text("where"));
await until(() => page().querySelector("[data-to=play]").textContent === "Play");
seen.push(text("where"));
press("input[value=buffer_pool]");
press("[data-to=later]");
page().querySelector("form").requestSubmit();
const asked = [text("call"), text("words"), place()];
part("undo").click();
await until(() => text("title").startsWith("an example"));
seen.push(text("call"), place());
frame.src = frame.src.replace(/#.*/, "") + asked[2];
await until(() => text("words") === asked[1]);
seen.push(text("call") === asked[0], place() === asked[2]);
frame.src = frame.src.replace(/#.*/, "") + "#case=cut";
await until(() => text("error"));
return [...seen, text("error")];
"""


@pytest.mark.slow
def test_the_step_page_plays_undoes_and_has_an_address_for_each_state(tmp_path: Path) -> None:
    (tmp_path / "step.html").write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    told = move(tmp_path / "step.html", _PLAYED, tmp_path / "profile")
    begin, play, again, played, undone, address, *restored, problem = told
    assert (begin, play, again) == ("Step 0 of 81", "Pause", "Step 0 of 81")
    assert played == "Step 81 of 81"
    assert undone.startswith("1: allocate")
    assert address.endswith("&case=buffer_pool")
    assert restored == [True, True]
    assert "names no case" in problem


_SEARCHED = """
await whole("input[data-filter]");
const field = page().querySelector("input[data-filter]");
const ask = (words) => {
  field.value = words;
  field.dispatchEvent(new frame.contentWindow.Event("input"));
  const seen = [...page().querySelectorAll("h2, .check td:first-child")];
  return seen.filter((one) => one.checkVisibility()).map((one) => one.textContent);
};
return [ask(""), ask("DROPPED_1 kafka-1234"), ask("nowhere to be found")];
"""


@pytest.mark.slow
def test_the_report_has_failures_first_and_is_searched(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(_report(), encoding="utf-8")
    everything, found, nothing = move(tmp_path / "report.html", _SEARCHED, tmp_path / "profile")
    name = "MCEntryMigration_entry_monitor_dropped"
    sections = ["Section that did not run", "Section that passes", "What checks what"]
    assert everything == ["Section that fails", f"{name}_1", f"{name}_0", *sections]
    ones = ["Section that fails", f"{name}_1", "Section that passes", f"{name}_1"]
    assert found == [*ones, "What checks what"]
    assert nothing == ["What checks what"]


_LOCK = "timer/system_timer.py, in add:\nwith self._lock.read:"
