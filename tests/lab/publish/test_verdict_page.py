"""docs/verdicts.md: what it says is so, and nothing deviates without a reason."""

import argparse
import re
import subprocess
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_lab.publish.verdicts import page
from wheelproof_lab.publish.verdicts.measure import Extent, measure
from wheelproof_lab.publish.verdicts.page import PAGE
from wheelproof_lab.publish.verdicts.render import render
from wheelproof_lab.publish.verdicts.subjects import (
    DEVIATIONS,
    IMPLEMENTATIONS,
    Deviation,
    Implementation,
    Kind,
    UnexplainedDeviationError,
    anchor,
    explain,
)
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import definition_of

COMPONENTS = ROOT / "spec" / "wheelproof_spec" / "components"
FEW = Extent(cases=5, operations=400, threads=4, histories=2, seed=3)

Row = tuple[str, str, str]
PLACE = re.compile(r"\w\.(?:java|scala|py|go|rs|ts):\d+")
JVM_PLACE = re.compile(r"(\w+)\.(?:java|scala):(\d+)")


def _rows(page: str) -> dict[Row, tuple[str, str, str]]:
    """Return the verdicts driven and recorded, and the links, by implementation and profile."""
    found: dict[Row, tuple[str, str, str]] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 8 and cells[0] != "implementation":
            name, _, component, profile, _, driven, recorded, links = cells
            found[_shown(name), component, profile] = driven, recorded, links
    return found


def _shown(name: str) -> str:
    """Return the name of an implementation, whose link leads to its section."""
    linked = re.fullmatch(r"\[(.+)\]\(#(.+)\)", name)
    assert linked is not None
    assert linked[2] == anchor(linked[1])
    return linked[1]


def _page() -> str:
    return (ROOT / PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda one: one.sentence[:40])
def test_verdict_page_links_to_headings_that_exist(deviation: Deviation) -> None:
    text = (ROOT / "docs" / deviation.target).read_text(encoding="utf-8")
    headings = [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]
    assert deviation.heading in headings
    if deviation.kind is Kind.FINDING:
        assert re.match(r"\d+\. ", deviation.heading)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda one: one.sentence[:40])
def test_verdict_page_names_the_line_that_causes_a_deviation(deviation: Deviation) -> None:
    definition = definition_of(deviation.component)
    lacking = {*definition.may_be_limits(), *definition.undeclared(())}
    if deviation.kind is Kind.FINDING or not lacking.issuperset(deviation.clauses):
        assert PLACE.search(_cause(deviation))


@pytest.mark.slow
@pytest.mark.long
def test_verdict_page_names_lines_that_the_released_classes_have(kafka: str, netty: str) -> None:
    jars = {jar.name: jar for jar in Path(kafka).parent.parent.glob("*/target/*/*.jar")}
    assert any(Path(netty).parent in jar.parents for jar in jars.values())
    places = {place for one in DEVIATIONS for place in JVM_PLACE.findall(_cause(one))}
    assert len(places) > 10
    there: set[tuple[str, str]] = set()
    for jar in jars.values():
        there |= _lines_in(jar, {name for name, _ in places})
    assert places - there == set()


def _lines_in(jar: Path, names: set[str]) -> set[tuple[str, str]]:
    """Return which lines the classes of a jar come from that were made of these sources."""
    entries = [Path(one) for one in zipfile.ZipFile(jar).namelist() if one.endswith(".class")]
    classes = [str(one.with_suffix("")) for one in entries if one.stem.split("$")[0] in names]
    found: set[tuple[str, str]] = set()
    if classes:
        words = ["javap", "-l", "-p", "-cp", str(jar), *classes]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for part in said.split("Compiled from ")[1:]:
            name = part.partition(".")[0].strip('"')
            found |= {(name, number) for number in re.findall(r"line (\d+):", part)}
    return found


def _cause(deviation: Deviation) -> str:
    """Return where a deviation is put down to the code: in the table, or in the finding."""
    text = (ROOT / "docs" / deviation.target).read_text(encoding="utf-8")
    section = re.split(r"^## ", text.partition(deviation.heading)[2], flags=re.MULTILINE)[0]
    return deviation.cause or section


def test_verdict_page_has_everybody_and_links_every_deviation() -> None:
    rows = _rows(_page())
    wanted: set[Row] = set()
    for one in IMPLEMENTATIONS:
        wanted |= {(one.name, run.component, run.profile) for run in one.driven}
        wanted |= {
            (one.name, run.component, profile) for run in one.recorded for profile in run.profiles
        }
    assert set(rows) == wanted
    for driven, recorded, links in rows.values():
        assert "FAIL" not in (driven, recorded) or "](" in links
    known = {one.link for one in DEVIATIONS} | {f"#{anchor(one.name)}" for one in IMPLEMENTATIONS}
    assert set(re.findall(r"\]\(([^)]*#[^)]*)\)", _page())) <= known


def _frame(page: str) -> list[tuple[str, ...]]:
    """Return how each implementation is shown: its name, and the section that opens."""
    section = re.compile(
        r"^## ([^\n]+)\n\n[^\n]+\n\n<details markdown=\"1\">\n"
        r"<summary>([^\n]+): commands, clauses, failures</summary>\n\n"
        r"(### (?:(?!^## |</details>).)*)\n\n</details>\n",
        re.MULTILINE | re.DOTALL,
    )
    found = section.findall(page)
    assert len(found) == len(re.findall("^## ", page, re.MULTILINE))
    for name, counts, runs in found:
        ways = re.findall(rf"^### {re.escape(name)}: \w+ (\w+), profile ", runs, re.MULTILINE)
        assert counts == ", ".join(f"{ways.count(way)} {way}" for way in dict.fromkeys(ways))
    return [(name, counts) for name, counts, _ in found]


def test_verdict_page_has_a_section_that_opens_for_everybody() -> None:
    assert [name for name, _ in _frame(_page())] == [one.name for one in IMPLEMENTATIONS]
    with pytest.raises(AssertionError):
        _frame(_page().replace("</details>\n\n## Netty", "\n\n## Netty"))


def test_verdict_page_shows_netty_right_by_its_own_contract_alone() -> None:
    rows = _rows(_page())
    assert rows["Netty", "timer", "hashed-wheel"][:2] == ("PASS", "PASS")
    assert rows["Netty", "timer", "kafka"][:2] == ("FAIL", "FAIL")
    assert "`Timer.RunsWithinItsLateness` is broken" in _page()


@pytest.mark.parametrize("component", ["timer", "purgatory", "buffer_pool", "accumulator"])
def test_verdict_page_shows_that_kafka_and_the_reference_keep_their_own(component: str) -> None:
    rows = _rows(_page())
    assert rows["Apache Kafka", component, "kafka"][:2] == ("PASS", "PASS")
    own = next(row for row in rows if row[:2] == ("The reference", component))
    assert rows[own] == ("PASS", "PASS", "none")


@pytest.mark.parametrize(
    ("component", "finding"), [("purgatory", "[finding 11]"), ("accumulator", "[finding 23]")]
)
def test_verdict_page_shows_findings_in_what_was_recorded(component: str, finding: str) -> None:
    driven, recorded, links = _rows(_page())["Apache Kafka", component, "wheelproof"]
    assert (driven, recorded) == ("FAIL", "FAIL")
    assert finding in links


def test_verdict_page_is_not_made_of_a_deviation_that_is_news() -> None:
    known = explain("Netty", "timer", "kafka", "Timer.RunsWithinItsLateness")
    assert known.kind is Kind.PROFILE
    with pytest.raises(
        UnexplainedDeviationError, match=r"Netty deviates from profile hashed-wheel"
    ):
        explain("Netty", "timer", "hashed-wheel", "Timer.RunsWithinItsLateness")


@pytest.mark.parametrize("is_news", [False, True])
def test_verdict_page_keeps_the_histories_of_what_is_news(
    is_news: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def recorded(_chosen: object, _extent: object, folder: Path, _tell: object) -> tuple[()]:
        folders.append(folder)
        folder.joinpath("history.jsonl").write_text("a history", encoding="utf-8")
        return ()

    def rendered(*_given: object) -> str:
        if is_news:
            raise UnexplainedDeviationError("a deviation that nobody knows")
        return "a page"

    monkeypatch.setattr(page, "measure", recorded)
    monkeypatch.setattr(page, "render", rendered)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    parser = argparse.ArgumentParser()
    page.declare(parser)
    given = parser.parse_args(["--output", str(tmp_path / "page.md")])
    if is_news:
        with pytest.raises(UnexplainedDeviationError, match=re.escape(str(tmp_path))):
            page.run(given)
    else:
        page.run(given)
    assert [folder.joinpath("history.jsonl").exists() for folder in folders] == [is_news]


@pytest.mark.parametrize("component", ["timer", "purgatory", "buffer_pool", "accumulator"])
def test_verdict_page_lists_the_clauses_that_the_judges_can_name(component: str) -> None:
    definition = definition_of(component)
    sources = sorted((COMPONENTS / component / "history").glob("*.py"))
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    named = {definition.clauses[name] for name in re.findall(r"\b\w+Clause\.([A-Z_]+)", text)}
    recorded = {clause for clause in definition.clauses if clause.judges & Wire.RECORDED}
    assert recorded == named


def _small() -> tuple[Implementation, ...]:
    """Return what can be measured in a few seconds; tests/adapters drive all of it."""
    named = {one.name: one for one in IMPLEMENTATIONS}
    kafka, netty = named["Apache Kafka"], named["Netty"]
    reference, heap = named["The reference"], named["python-heapq"]
    return (
        replace(kafka, driven=(), recorded=kafka.recorded[::3]),
        replace(netty, driven=()),
        replace(reference, driven=(), recorded=reference.recorded[-1:]),
        heap,
    )


@pytest.mark.slow
def test_verdict_page_small_version_says_the_same(
    kafka: str, netty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(kafka).is_file()
    assert Path(netty).is_file()
    monkeypatch.chdir(ROOT)
    told: list[str] = []
    measured = measure(_small(), FEW, tmp_path, told.append)
    assert len(told) == 5
    page = render(measured, FEW, "a small version")
    assert len(_frame(page)) == len(measured)
    published = _rows(_page())
    for key, row in _rows(page).items():
        for mine, its in zip(row[:2], published[key][:2], strict=True):
            assert mine in (its, "not driven", "not recorded")
    assert measured[1].recorded[-1].verdict is Verdict.FAIL
    rules = {one.violation.rule for one in measured[1].recorded[-1].verdicts if one.violation}
    assert rules == {"Timer.RunsWithinItsLateness"}
    assert all(calls.total() > FEW.operations for calls in [measured[0].recorded[0].calls])
