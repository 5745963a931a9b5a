"""Real runs of TLC on the fixture models, each verdict and each way to fail."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from support.tlc.toolchains import MANIFEST, fixture_model, toolchain
from wheelproof_spec.base.results.reports import junit_text, write_json
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.judging.runner import (
    RunSettings,
    SilentObserver,
    run_models,
)
from wheelproof_spec.tlc.manifest.cfg import parse_cfg
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Model
from wheelproof_spec.tlc.manifest.selection import select_models
from wheelproof_spec.tlc.reporting.document import pin_lines, run_document
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.states.graph import read_graph

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="module")
def outcomes(graphs: Path) -> dict[str, ModelOutcome]:
    settings = RunSettings(graphs=graphs)
    models = select_models(load_manifest(MANIFEST), (), ())
    return {
        outcome.model.name: outcome
        for outcome in run_models(toolchain(), models, settings, SilentObserver())
    }


def _run(model: Model, settings: RunSettings | None = None) -> ModelOutcome:
    (outcome,) = run_models(toolchain(), [model], settings or RunSettings(), SilentObserver())
    return outcome


def _variant(name: str, old: str, new: str) -> Model:
    """Return a fixture model whose cfg reads `new` for `old`."""
    model = fixture_model(name)
    assert old in model.cfg.text
    return replace(model, cfg=parse_cfg(model.cfg.name, model.cfg.text.replace(old, new)))


def test_every_kind_of_ending_is_as_expected(outcomes: dict[str, ModelOutcome]) -> None:
    assert {name: outcome.problems for name, outcome in outcomes.items() if outcome.problems} == {}
    assert len(outcomes) == 8
    assert all(outcome.verdict is Verdict.PASS for outcome in outcomes.values())


def test_a_pass_and_its_numbers(outcomes: dict[str, ModelOutcome]) -> None:
    outcome = outcomes["MCLock_pass"]
    assert (outcome.distinct, outcome.generated, outcome.depth) == (13, 15, 7)
    taken = {action.name: action.generated for action in outcome.run.report.coverage}
    assert taken == {"Acquire": 4, "Count": 4, "Release": 4, "Steal": 0, "Done": 2}
    (witness,) = outcome.witnesses
    assert (witness.verdict, witness.trace_length) == (Verdict.PASS, 6)


def test_a_counterexample_in_words(outcomes: dict[str, ModelOutcome]) -> None:
    story = outcomes["MCLock_known_bug"].counterexample_text
    assert story.splitlines()[-3:] == [
        "3. AcquireWithoutTest, thread t2",
        "     owner: t1 -> t2",
        '     pc[t2]: "start" -> "held"',
    ]


def test_a_lasso_and_a_stuttering_end(outcomes: dict[str, ModelOutcome]) -> None:
    assert outcomes["MCLock_lasso"].counterexample_text.endswith(
        "then back to state 1 by Forget, and so on for ever"
    )
    assert outcomes["MCLock_stuttering"].counterexample_text.endswith(
        "then nothing happens any more, for ever"
    )


def test_the_state_graph(graphs: Path, outcomes: dict[str, ModelOutcome]) -> None:
    graph = read_graph(graphs / "MCLock_pass.dot")
    assert len(graph.states) == outcomes["MCLock_pass"].distinct
    assert graph.edges_of_action() == {"Acquire": 4, "Count": 4, "Release": 4, "Done": 2}
    assert outcomes["MCLock_pass"].graph_summary == graph.summary()
    assert outcomes["MCLock_assumption"].graph_summary.startswith("no state graph: ")


def test_reports(outcomes: dict[str, ModelOutcome], tmp_path: Path) -> None:
    everything = list(outcomes.values())
    write_json(tmp_path / "tlc.json", run_document(toolchain(), everything))
    document = json.loads((tmp_path / "tlc.json").read_text(encoding="utf-8"))
    assert document["tlc"]["announced"].startswith("TLC2 Version")
    models = {model["name"]: model for model in document["models"]}
    assert models["MCLock_pass"]["coverage"][0]["action"] == "Acquire"
    steps = models["MCLock_invariant"]["counterexample"]["steps"]
    assert (steps[2]["action"], steps[2]["actor"]) == ("Count", "t1")
    assert steps[2]["changes"][0] == "history: t1 appended"
    results = [outcome.check_result() for outcome in everything]
    assert {result.verdict for result in results} == {Verdict.PASS}
    suite = ElementTree.fromstring(junit_text("tlc", results))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("8", "0", "0")


def test_pinning(outcomes: dict[str, ModelOutcome]) -> None:
    assert pin_lines(outcomes["MCLock_pass"])[1:] == [
        "distinct = 13",
        "generated = 15",
        "depth = 7",
    ]
    assert pin_lines(outcomes["MCLock_lasso"])[1:] == ["trace_length = 5"]


def test_pinning_a_model_that_fails_pins_nothing() -> None:
    model = _variant("MCLock_pass", "TypeOK ", "NobodyCounts ")
    lines = pin_lines(_run(model))
    assert lines[1:] == [
        "# pass was expected, but TLC found the invariant NobodyCounts violated",
        "# nothing to pin",
    ]


def test_a_witness_that_is_not_reached() -> None:
    model = fixture_model("MCLock_pass")
    both = (*model.witnesses, "WitnessThreeCounted")
    outcome = _run(replace(model, witnesses=both))
    assert [witness.trace_length for witness in outcome.witnesses] == [6, None]
    assert outcome.verdict is Verdict.FAIL
    assert outcome.problems == ("the witness WitnessThreeCounted was never reached",)


def test_a_witness_that_is_not_defined() -> None:
    outcome = _run(replace(fixture_model("MCLock_pass"), witnesses=("WitnessNowhere",)))
    assert outcome.verdict is Verdict.ERROR
    assert "WitnessNowhere" in outcome.summary()


def test_an_action_that_is_never_taken() -> None:
    outcome = _run(replace(fixture_model("MCLock_pass"), unreached_actions=(), witnesses=()))
    assert outcome.verdict is Verdict.FAIL
    assert outcome.summary().startswith("the action Steal of Lock was never taken (line ")


def test_a_known_bug_that_passes() -> None:
    outcome = _run(_variant("MCLock_known_bug", "OnlyTheOwnerIsInside", "NothingWrong"))
    assert outcome.verdict is Verdict.FAIL
    assert outcome.summary() == (
        "invariant: OnlyTheOwnerIsInside was expected, but TLC found no error"
    )
    assert "repeat it with: wheelproof tlc MCLock_known_bug --explain" in outcome.story()


def test_a_deadlock_is_ignored_on_request() -> None:
    outcome = _run(replace(fixture_model("MCLock_deadlock"), check_deadlock=False))
    assert outcome.summary() == "deadlock was expected, but TLC found no error"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("NobodyCounts", "Unevaluable", "Evaluating invariant Unevaluable failed"),
        ("SPECIFICATION Spec", "SPECIFICATION Nothing", "Nothing"),
        ("Threads = {t1, t2}", "", "Threads"),
    ],
)
def test_what_tlc_cannot_evaluate_is_no_verdict(old: str, new: str, words: str) -> None:
    outcome = _run(_variant("MCLock_invariant", old, new))
    assert outcome.verdict is Verdict.ERROR
    assert words in outcome.summary()


def test_a_module_that_does_not_parse(tmp_path: Path) -> None:
    model = fixture_model("MCLock_invariant")
    text = model.module_path.read_text(encoding="utf-8")
    module = tmp_path / model.module_path.name
    module.write_text(text.replace("EXTENDS MCLock", "EXTENDS = MCLock"), encoding="utf-8")
    outcome = _run(replace(model, module_path=module))
    assert outcome.verdict is Verdict.ERROR
    assert outcome.summary().startswith(f"{module.name}:2:9: ")
    assert 'Encountered "="' in outcome.summary()


def test_a_module_that_names_what_there_is_not(tmp_path: Path) -> None:
    model = fixture_model("MCLock_invariant")
    text = model.module_path.read_text(encoding="utf-8")
    module = tmp_path / model.module_path.name
    end = "=" * 8
    module.write_text(text.replace(end, f"A == Nowhere\nB == Neither\n{end}"), encoding="utf-8")
    outcome = _run(replace(model, module_path=module))
    assert outcome.verdict is Verdict.ERROR
    found = [problem.split(": ", 1) for problem in outcome.problems]
    assert [what for _, what in found] == [
        f"Unknown operator: `{n}'." for n in ("Nowhere", "Neither")
    ]
    assert all(re.fullmatch(rf"{module.name}:\d+:6", place) for place, _ in found)


def test_out_of_time() -> None:
    model = _variant("MCLock_deadlock", "SPECIFICATION Spec", "SPECIFICATION EndlessSpec")
    outcome = _run(model, RunSettings(seconds=2.0))
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.summary().startswith("not finished within the limit of time")


def test_a_java_that_vanishes(tmp_path: Path) -> None:
    tools = toolchain()
    broken = Toolchain(jar=tools.jar, java=replace(tools.java, path=tmp_path / "java"))
    (outcome,) = run_models(broken, [fixture_model("MCLock_pass")], RunSettings(), SilentObserver())
    assert outcome.verdict is Verdict.ERROR
    assert outcome.summary().startswith("TLC could not be run: ")
