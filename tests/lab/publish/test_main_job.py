"""The main job: its page, and the whole of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wheelproof_lab.publish.main_job.pipeline import TITLE, pipeline_section
from wheelproof_lab.publish.main_job.sections import JobReport, Section, render_page
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict


def _section(*verdicts: Verdict, note: str = "") -> Section:
    return Section(
        title="Sides <checked>",
        edge="oracle and reference",
        subject="a subject",
        results=tuple(
            CheckResult(
                name=f"check {number}",
                group="test",
                verdict=verdict,
                seconds=0.5,
                summary="a < b",
                details="the <story>",
            )
            for number, verdict in enumerate(verdicts)
        ),
        note=note,
        page="details.html" if verdicts else "",
    )


def _report(*sections: Section) -> JobReport:
    return JobReport(sections=sections, machine="a machine", seed=7, seconds=12.0)


def test_main_job_verdict_is_the_worst_of_what_ran() -> None:
    skipped = _section(note="no Maven")
    assert _report(_section(Verdict.PASS), skipped).verdict is Verdict.PASS
    assert _report(_section(Verdict.PASS, Verdict.FAIL), skipped).verdict is Verdict.FAIL
    assert _report(skipped).verdict is Verdict.INCONCLUSIVE


def test_main_job_page_shows_everything_and_needs_nothing() -> None:
    page = render_page(
        _report(_section(Verdict.PASS, Verdict.FAIL), _section(note="no Maven")), "d"
    )
    assert "Sides &lt;checked&gt;" in page
    assert "the &lt;story&gt;" in page
    assert "no Maven" in page
    assert "did not run" in page
    assert not re.search(r"src=|url\(|https?:", page)
    assert re.findall(r'href="(.*?)"', page) == ["details.html"]
    assert page.index("1 of 2 checks gave another result than expected") < page.index("Sides &lt;")
    assert page.count('<details class="section" open data-group>') == 2


def _pipeline(folder: Path, program: str) -> tuple[Section, list[str]]:
    said: list[str] = []
    words = [sys.executable, "-c", program]
    return pipeline_section(folder, 7, 100, said.append, words), said


def test_main_job_goes_on_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; sys.stderr.write('wheelproof: Java 17 was not found; install it\\n'); "
    program += "print('begun'); sys.exit(2)"
    monkeypatch.delenv("CI", raising=False)
    section, said = _pipeline(tmp_path, program)
    assert (section.results, section.note) == ((), "wheelproof: Java 17 was not found; install it")
    assert said[1:] == ["begun", f"the pipeline is not run: {section.note}"]
    monkeypatch.setenv("CI", "true")
    section, _ = _pipeline(tmp_path, program)
    assert section.verdict is Verdict.ERROR


def test_main_job_does_not_pass_over_a_demo_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    section, _ = _pipeline(tmp_path, "import sys; sys.exit(5)")
    assert section.verdict is Verdict.ERROR
    section, _ = _pipeline(tmp_path, "import sys; sys.exit(0)")
    assert section.verdict is Verdict.ERROR


@pytest.mark.long
def test_main_job_runs_and_judges_kafka(tmp_path: Path, kafka: str) -> None:
    assert Path(kafka).is_file()
    command = [sys.executable, "-m", "wheelproof_lab", "run", "--out", str(tmp_path)]
    command += ["--demo-runs", "200", "--seed", "7"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == ExitCode.PASS, completed.stdout + completed.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "pass"
    subjects = {section["title"]: section["subject"] for section in report["sections"]}
    assert "kafka-server-common" in subjects["Conformance: Apache Kafka's timer"]
    assert all(section["results"] for section in report["sections"])
    assert subjects[TITLE].startswith("PySpark ")
    assert (tmp_path / "pipeline" / "report.html").is_file()
    assert "kafka-server-common" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"report: {tmp_path / 'report.html'}" in completed.stdout
