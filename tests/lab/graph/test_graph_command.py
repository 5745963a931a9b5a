"""The verb graph: what it prints and writes, exit codes, and what it lacks in one sentence."""

import argparse
import json
from pathlib import Path

import pytest

from support.graph.philosophers import philosophers_model
from wheelproof_lab.graph import all_comparisons
from wheelproof_lab.graph import verb as command
from wheelproof_lab.graph.comparing import comparisons
from wheelproof_lab.graph.comparing.comparisons import GraphOutcome
from wheelproof_spec.base.errors import MissingToolError, UsageError
from wheelproof_spec.base.resources import checkout_directory, tla_directory
from wheelproof_spec.base.results.verdicts import ExitCode


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.declare(parser)
    return command.run(parser.parse_args(arguments))


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--list") == ExitCode.PASS
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        model.name for model in all_comparisons.comparisons()
    ]


def test_the_modules_that_no_code_is_compared_with() -> None:
    """CONTRIBUTING.md says under its picture which corners no graph connects."""
    compared = {
        model.configuration.module.removeprefix("MC") for model in all_comparisons.comparisons()
    }
    modules = {path.stem for path in tla_directory().glob("*/*.tla")}
    checkout = checkout_directory()
    assert checkout is not None
    text = (checkout / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sentence = text.partition("of each TLA+ module but ")[2].partition(".")[0]
    assert compared <= modules
    assert modules - compared == set(sentence.replace(" and ", ", ").split(", "))


@pytest.mark.parametrize("arguments", [(), ("--all", "timer")])
def test_names_or_all(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="or give --all"):
        _run(*arguments)


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError, match="no graph model 'wheel'; there are: timer, wheel-"):
        _run("wheel")


def test_no_java(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="Java"):
        _run("timer", "--java", str(tmp_path / "java"))


@pytest.mark.slow
def test_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, junit = tmp_path / "graph.json", tmp_path / "graph.xml"
    options = ["--json", str(report), "--junit", str(junit)]
    assert _run("entry-add-c*l", *options) == ExitCode.PASS
    assert capsys.readouterr().out == (
        "entry-add-cancel: pass, equal: 94 states, 138 edges "
        "(explored: 96 states and 139 edges of the code, 94 and 138 of the module)\n"
    )
    document = json.loads(report.read_text(encoding="utf-8"))
    assert (document["schema"], document["verdict"]) == ("wheelproof.graph/1", "pass")
    assert document["models"][0]["sides"]["spec"]["compared_states"] == 94
    assert 'failures="0"' in junit.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_difference_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = (philosophers_model(2, ordered=True),)
    monkeypatch.setattr(all_comparisons, "comparisons", lambda: models)
    report = tmp_path / "graph.json"
    assert _run("--all", "--json", str(report)) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert "philosophers: fail, 1 code-only, 1 spec-only edges" in printed
    assert "  spec only: (first state)\n" in printed
    (model,) = json.loads(report.read_text(encoding="utf-8"))["models"]
    assert [one["only"] for one in model["differences"]] == ["code", "spec"]
    assert model["differences"][0]["path"] == []


def test_ctrl_c_gives_what_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> GraphOutcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparisons, "carry_out", interrupted)
    report = tmp_path / "graph.json"
    assert _run("timer", "--json", str(report)) == ExitCode.INTERRUPTED
    assert capsys.readouterr().out == "interrupted: 0 of 1 comparisons were made\n"
    assert json.loads(report.read_text(encoding="utf-8"))["verdict"] == "inconclusive"
