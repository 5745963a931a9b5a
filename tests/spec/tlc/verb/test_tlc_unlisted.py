"""Modules without a manifest: whatever anybody has, with the verdict, and the traces as files."""

import json
from pathlib import Path

import pytest

from support.tlc.toolchains import frame, report_of
from support.tlc.verb import run_verb
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.tlc.reporting.traces import itf_trace, json_trace

MODULE = r"""---- MODULE Jugs ----
EXTENDS Integers
CONSTANTS Goal, Nobody
VARIABLES large, small, last
vars == <<large, small, last>>
Seen(n) == [who |-> Nobody, set |-> {n}, of |-> <<n, TRUE>>, map |-> [x \in {0, 5} |-> n]]
Init == large = 0 /\ small = 0 /\ last = Seen(0)
Fill == large' = 5 /\ last' = Seen(large) /\ UNCHANGED small
Pour ==
    LET poured == IF large < 3 - small THEN large ELSE 3 - small
    IN  large' = large - poured /\ small' = small + poured /\ last' = Seen(poured)
Empty == small > 0 /\ small' = 0 /\ last' = Seen(small) /\ UNCHANGED large
Next == Fill \/ Pour \/ Empty
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
Unsolved == large # Goal
Solved == <>(large = 4)
====
"""
CFG = "SPECIFICATION Spec\nCONSTANTS Goal = 4 Nobody = Nobody\n"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "Jugs.tla"
    path.write_text(MODULE, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"{CFG}INVARIANT Unsolved\n", encoding="utf-8")
    return path


def _cfg(module: Path, text: str) -> list[str]:
    path = module.with_name("other.cfg")
    path.write_text(CFG + text, encoding="utf-8")
    return [str(module), "--config", str(path)]


@pytest.mark.slow
def test_a_violation_and_its_traces(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = module.parent / "traces"
    assert run_verb(str(module), "--traces", str(traces)) == 1
    printed = capsys.readouterr().out
    assert "TLC found the invariant Unsolved violated" in printed
    cfg = module.with_suffix(".cfg")
    assert f"repeat it with: wheelproof tlc {module} --explain --config {cfg}" in printed
    plain = json.loads((traces / "Jugs.json").read_text(encoding="utf-8"))
    itf = json.loads((traces / "Jugs.itf.json").read_text(encoding="utf-8"))
    assert [state["action"] for state in plain["states"]] == [
        *(None, "Fill", "Pour", "Empty", "Pour", "Fill", "Pour"),
    ]
    assert plain["states"][-1]["variables"] == {
        "large": 4,
        "small": 3,
        "last": {"who": "Nobody", "set": [1], "of": [1, True], "map": {"0": 1, "5": 1}},
    }
    assert (plain["back_to"], "loop" in itf) == (None, False)
    assert itf["vars"] == ["large", "last", "small"]
    assert itf["states"][-1]["last"] == {
        "who": "Nobody",
        "set": {"#set": [1]},
        "of": [1, True],
        "map": {"#map": [[0, 1], [5, 1]]},
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("PROPERTY Solved\n", 1, "TLC found a liveness property violated"),
        ("CHECK_DEADLOCK FALSE\n", 3, "names nothing to check"),
        ("", 0, "tlc: pass (1 pass of 1 models)"),
    ],
)
def test_what_a_cfg_may_ask(
    module: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, words: str
) -> None:
    assert run_verb(*_cfg(module, text)) == code
    assert words in capsys.readouterr().out


@pytest.mark.slow
def test_behaviours_at_random(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--simulate", "100", "--depth", "40", "--seed", "3")
    assert run_verb(str(module), *options) == 1
    assert "--simulate 100 --depth 40 --seed 3 --config" in capsys.readouterr().out
    assert run_verb(*_cfg(module, ""), *options) == 0
    assert "nothing found in 100 behaviours at random" in capsys.readouterr().err


def test_what_is_refused(module: Path) -> None:
    with pytest.raises(InputRejectedError, match="no such module"):
        run_verb(str(module.with_name("None.tla")))
    with pytest.raises(InputRejectedError, match="ALIAS is not known to the TLC in "):
        run_verb(*_cfg(module, "ALIAS Told\n"))
    with pytest.raises(UsageError, match="--config is the cfg of one module"):
        run_verb("--config", str(module.with_suffix(".cfg")))
    with pytest.raises(UsageError, match="two modules with one name"):
        run_verb(str(module), str(module))
    with pytest.raises(UsageError, match="--pin and --export"):
        run_verb(str(module), "--pin")
    module.with_suffix(".cfg").unlink()
    with pytest.raises(InputRejectedError, match="name one with --config"):
        run_verb(str(module))


def test_traces_that_never_end() -> None:
    head = "line 6, col 12 to line 6, col 71 of module Lasso"
    first, second = f"1: <Initial predicate>\nn = {2**53}", f"2: <Step {head}>\nn = -1"
    states = frame(2217, first) + frame(2217, second)
    back = frame(2122, f"1: Back to state: <Step {head}>")
    for end, number in ((back, 1), (frame(2218, "3: Stuttering"), 2)):
        counterexample = report_of(states + end).counterexample
        assert counterexample is not None
        assert json_trace("Lasso", counterexample)["back_to"] == number
        itf = itf_trace("Lasso", counterexample)
        assert itf["loop"] == number - 1
        assert "'n': {'#bigint': '9007199254740992'}" in str(itf)
        assert "'n': -1" in str(itf)
