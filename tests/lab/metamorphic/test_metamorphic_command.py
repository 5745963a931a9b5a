"""The verb metamorphic: no disagreement, each clause broken and found, and wrong judges caught."""

import json
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from support import seeds
from support.checkout import ROOT, project_files
from wheelproof_lab.__main__ import main
from wheelproof_lab.metamorphic import verb as metamorphic
from wheelproof_lab.metamorphic.campaign import (
    ENOUGH_HISTORIES,
    Campaign,
    Counts,
    unbroken,
    without_fault,
)
from wheelproof_lab.metamorphic.campaigns import (
    CAMPAIGNS,
    Part,
    clauses_on,
    judged,
    recordings,
    run_driven,
    run_part,
)
from wheelproof_lab.metamorphic.corpus import files_of, kept, replayed
from wheelproof_lab.metamorphic.recording import Recording
from wheelproof_lab.metamorphic.relations import Fault, Relation
from wheelproof_lab.publish.clauses import FIGURES, PAGE, read_figures, render
from wheelproof_spec.app.cli import main as wheelproof
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.registry import COMPONENTS, definition_of
from wheelproof_spec.components.timer.component import TimerClause

pytestmark = pytest.mark.slow

_CORPUS = ROOT / "tests" / "corpus" / "metamorphic"
_SEED = 11
_PAIRS = [(name, profile) for name in COMPONENTS for profile in definition_of(name).profiles]


@pytest.mark.parametrize(("component", "profile"), _PAIRS)
def test_a_few_histories_of_each_component_agree(component: str, profile: str) -> None:
    # A purgatory has one of five disciplines in each case, and promises what that does; a history
    # for an exact timer is one with the shortest tick.
    cases = 8 if component == "purgatory" or profile == "exact" else 2
    counts = run_part(Part(component=component, profile=profile, seed=_SEED, cases=cases))
    assert counts.disagreements == []
    assert counts.found == counts.injected
    faults = CAMPAIGNS[component].faults
    assert {*counts.found} == {str(one.clause) for one in faults if one.is_for(profile)}


@pytest.mark.campaign
@pytest.mark.long
def test_many_histories_of_each_component_agree(capsys: pytest.CaptureFixture[str]) -> None:
    histories = seeds.runs(200, hunted=2_000)
    words = ["--histories", str(histories), "--seed", str(seeds.seed(_SEED))]
    code = main(["metamorphic", *words])
    assert code == ExitCode.PASS, capsys.readouterr().out


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_recorded_clause_has_a_fault(component: str) -> None:
    added = CAMPAIGNS[component]
    assert without_fault(added, clauses_on(component, Wire.RECORDED)) == set()
    assert {*added.profiles} == {*definition_of(component).profiles}


@pytest.mark.parametrize("component", COMPONENTS)
def test_faulty_answers_break_clauses_of_driven_calls(component: str) -> None:
    profile = definition_of(component).profiles[0]
    counts = run_driven(Part(component=component, profile=profile, seed=_SEED), 15)
    driven = {str(clause) for clause in clauses_on(component, Wire.DRIVEN)}
    assert {*counts.named} <= driven
    assert len(counts.named) >= len(driven) // 2


@pytest.mark.parametrize("path", files_of([_CORPUS]), ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path: Path) -> None:
    agree, words, known = replayed(path)
    assert agree is (known is None), words


def test_the_page_of_clauses_is_that_of_the_figures() -> None:
    figures = read_figures(ROOT / FIGURES)
    assert (ROOT / PAGE).read_text(encoding="utf-8") == render(figures)


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_last_campaign_broke_and_found_every_clause(component: str) -> None:
    profiles = read_figures(ROOT / FIGURES)["components"][component]
    assert {*profiles} == {*definition_of(component).profiles}
    named: Counter[str] = Counter()
    for profile, one in profiles.items():
        assert one["disagreements"] == 0
        named.update(one["named"])
        for fault in CAMPAIGNS[component].faults:
            if fault.is_for(profile):
                broken, found = one["clauses"][str(fault.clause)]
                assert broken == found > 0, fault.clause
    by_hand = CAMPAIGNS[component].by_hand
    assert {*clauses_on(component, Wire.DRIVEN)} - {*by_hand} <= {*named}
    texts = [path.read_text(encoding="utf-8") for path in project_files() if path.suffix == ".py"]
    for test in by_hand.values():
        assert any(f"def {test}(" in text for text in texts), test


# Wrong judges


def _fails(verdict: RunVerdict) -> RunVerdict:
    violation = Violation(rule="Wrong.Judge", expected="", observed="", reason="")
    return replace(verdict, verdict=Verdict.FAIL, violation=violation)


def _fears_names(recording: Recording) -> RunVerdict:
    verdict = judged(recording)
    return _fails(verdict) if any(op.process == "n1" for op in recording.ops) else verdict


def _wants_a_clock(recording: Recording) -> RunVerdict:
    verdict = judged(recording)
    return _fails(verdict) if recording.header.clock == "none" else verdict


def _wants_no_overlap(recording: Recording) -> RunVerdict:
    verdict = judged(recording)
    under_way = sum(
        1 for places in recording.calls() if len(places) == 2 and places[1] > places[0] + 3
    )
    return _fails(verdict) if under_way > 1 else verdict


def _passes_all(recording: Recording) -> RunVerdict:
    return replace(judged(recording), verdict=Verdict.PASS, violation=None, also_broken=())


@pytest.mark.parametrize(
    ("judge", "relation", "variation"),
    [
        (_fears_names, Relation.SAME, "other names"),
        (_wants_a_clock, Relation.WEAKER, "without a clock"),
        (_wants_no_overlap, Relation.ALLOWED, "answers later"),
        (_passes_all, Relation.FAULT, "Timer.NeverBeforeItIsDue"),
    ],
)
def test_a_wrong_judge_is_caught(
    judge: Callable[[Recording], RunVerdict], relation: Relation, variation: str, tmp_path: Path
) -> None:
    part = Part(component="timer", profile="kafka", seed=_SEED, cases=2)
    campaign = Campaign(CAMPAIGNS["timer"], "kafka", judge)
    for number, recording in enumerate(recordings(part)):
        campaign.run(recording, str(number))
    found = next(one for one in campaign.counts.disagreements if one.variation == variation)
    assert found.relation is relation
    assert len(found.before.ops) <= 10
    # Of the right judge the pair says nothing bad.
    name, text = kept(found, 0)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert replayed(tmp_path / name)[0]
    assert main(["metamorphic", "--replay", str(tmp_path)]) == ExitCode.PASS


def test_a_clause_that_no_fault_breaks_is_told() -> None:
    def nothing(_recording: Recording, _dice: Random) -> None:
        return None

    never = Fault(clause=TimerClause.CANCEL_TELLS_THE_TRUTH, inject=nothing)
    others = (one for one in CAMPAIGNS["timer"].faults if one.clause is not never.clause)
    component = replace(CAMPAIGNS["timer"], faults=(*others, never))
    campaign = Campaign(component, "kafka", judged)
    part = Part(component="timer", profile="kafka", seed=_SEED, cases=2)
    for number, recording in enumerate(recordings(part)):
        campaign.run(recording, str(number))
    assert unbroken(component, "kafka", campaign.counts) == []
    campaign.counts.histories = ENOUGH_HISTORIES
    assert unbroken(component, "kafka", campaign.counts) == ["Timer.CancelTellsTheTruth"]


def test_a_campaign_that_breaks_no_clause_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def parts(*_: object) -> Iterator[Counts]:
        yield Counts(histories=ENOUGH_HISTORIES)

    monkeypatch.setattr(metamorphic, "_parts", parts)
    words = ["metamorphic", "timer", "--profile", "kafka", "--keep", str(tmp_path)]
    assert main([*words, "--histories", "9"]) == ExitCode.FAIL
    assert "Timer.CancelTellsTheTruth: no history was given a fault" in capsys.readouterr().out


def test_a_kept_disagreement_fails_unless_it_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Part(component="timer", profile="kafka", seed=_SEED, cases=1)
    recording = next(recordings(part))
    campaign = Campaign(CAMPAIGNS["timer"], "kafka", _passes_all)
    campaign.run(recording, "0")
    name, text = kept(campaign.counts.disagreements[0], 0)
    document = json.loads(text)
    # What was faulty is not, and nothing is named.
    document["after"] = document["before"]
    (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    assert main(["metamorphic", "--replay", str(tmp_path / name)]) == ExitCode.FAIL
    assert f"{name}: fail, " in capsys.readouterr().out
    document["known"] = "the judge is being mended"
    (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    assert main(["metamorphic", "--replay", str(tmp_path / name)]) == ExitCode.PASS


def test_a_disagreement_is_printed_with_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Campaign(CAMPAIGNS["timer"], "kafka", _passes_all)
    found.run(next(recordings(Part(component="timer", profile="kafka", seed=_SEED, cases=1))), "0")

    def parts(*_: object) -> Iterator[Counts]:
        yield found.counts

    monkeypatch.setattr(metamorphic, "_parts", parts)
    words = ["metamorphic", "timer", "--profile", "kafka", "--keep", str(tmp_path)]
    assert main([*words, "--histories", "9"]) == ExitCode.FAIL
    printed = capsys.readouterr().out
    repeat = printed.split("  repeat    ")[1].splitlines()[0]
    program = "python -m wheelproof_lab "
    assert repeat.startswith(program)
    again = shlex.split(repeat.removeprefix(program))
    # The judge that failed is not the program's.
    assert main(again) == ExitCode.PASS


def _varied(path: Path, folder: Path) -> int:
    return main(["metamorphic", "--recorded", str(path), "--seed", "5", "--keep", str(folder)])


def test_what_anybody_has_recorded_is_varied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    words = ["--threads", "2", "--operations", "60", "--seed", "3", "--output", str(path)]
    assert wheelproof(["record", "--component", "timer", *words]) == ExitCode.PASS
    assert _varied(path, tmp_path) == ExitCode.PASS
    assert "timer, kafka: pass" in capsys.readouterr().out
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    assert _varied(path, tmp_path) == ExitCode.INPUT_REJECTED
    assert "has no header" in capsys.readouterr().err


@pytest.mark.parametrize("component", ["timer", "purgatory", "buffer_pool", "accumulator"])
def test_what_kafka_has_recorded_is_varied(component: str, kafka: str, tmp_path: Path) -> None:
    path = tmp_path / "kafka.jsonl"
    words = ["--component", component, "--threads", "4", "--operations", "300"]
    more = ["--histories", "3", "--output", str(path)]
    subprocess.run([kafka, "record", *words, *more], check=True, capture_output=True)
    assert _varied(path, tmp_path) == ExitCode.PASS


def test_the_command_shares_the_work_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["metamorphic", "buffer_pool", "--histories", "50", "--seed", "3", "--jobs", "1"]
    files = ["--json", str(tmp_path / "m.json"), "--figures", str(tmp_path / "f.json")]
    assert main([*words, "--profile", "kafka", *files]) == ExitCode.PASS
    assert "seed 3" in capsys.readouterr().out
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert document["repeat"].endswith("--seed 3 --profile kafka --jobs 1")
    figures = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert figures["components"] == document["figures"]
    assert figures["components"]["buffer_pool"]["kafka"]["histories"] >= 50


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["tiemr"], ExitCode.USAGE, "there is no 'tiemr'; did you mean timer?"),
        (["timer", "--profile", "wheelproof"], ExitCode.USAGE, "has the profile 'wheelproof'"),
        (["--replay", "nowhere.json"], ExitCode.INPUT_REJECTED, "nowhere.json"),
    ],
)
def test_bad_arguments_end_in_a_sentence(
    words: list[str], code: ExitCode, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metamorphic", *words]) == code
    assert sentence in capsys.readouterr().err


def test_a_variation_draws_the_same_from_the_same_seed() -> None:
    part = Part(component="timer", profile="kafka", seed=_SEED, cases=1)
    recording = next(recordings(part))
    for fault in CAMPAIGNS["timer"].faults:
        first, second = (fault.inject(recording, Random(5)) for _ in range(2))
        assert first == second
