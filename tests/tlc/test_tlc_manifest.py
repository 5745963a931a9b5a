"""The manifest: what it says is checked to the last key."""

import shutil
from pathlib import Path

import pytest
from tlc_support import FIXTURES, MANIFEST

from wheelproof_spec.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Tier

HEAD = 'schema = "wheelproof.manifest/1"\n'
PASSING = """
[[model]]
name = "Lock_pass"
module = "MCLock"
specifies = "Lock"
tier = "smoke"
kind = "model"
expect = "pass"
distinct = 1
generated = 2
depth = 3
summary = "text"
"""
LIVENESS = """
[[model]]
name = "Lock_stuttering"
module = "MCLock"
specifies = "Lock"
tier = "smoke"
kind = "mutant"
expect = "liveness"
property = "NobodyCountsForEver"
trace_length = 7
summary = "text"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "models"))


def _problem(folder: Path, text: str) -> str:
    path = folder / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputRejectedError) as caught:
        load_manifest(path)
    return str(caught.value).removeprefix(str(folder) + "/")


def test_the_manifest_of_the_fixtures() -> None:
    models = {model.name: model for model in load_manifest(MANIFEST)}
    known_bug = models["Lock_known_bug"]
    assert (known_bug.kind, known_bug.tier) == (Kind.KNOWN_BUG, Tier.SMOKE)
    assert (known_bug.expect, known_bug.property) == (
        Expectation.INVARIANT,
        "OnlyTheOwnerIsInside",
    )
    assert known_bug.module_path == FIXTURES.resolve() / "known_bugs" / "LockWithoutTest.tla"
    assert known_bug.bug == "LOCK-1"
    assert models["Lock_pass"].check_deadlock
    assert not models["Lock_lasso"].check_deadlock


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("depth = 3", "depht = 3", "manifest.toml:12: model Lock_pass: unknown key 'depht'"),
        ("depth = 3", "", "manifest.toml:3: model Lock_pass: the key 'depth' is missing; measure"),
        ("depth = 3", "depth = -3", "manifest.toml:12: model Lock_pass: 'depth' is no number"),
        ("depth = 3", "depth = true", "'depth' is no number of states"),
        ("depth = 3", 'depth = "3"', "'depth' is no number of states"),
        ("depth = 3", "depth = 3\ntrace_length = 2", "'trace_length' means nothing when"),
        ("depth = 3", 'depth = 3\nproperty = "X"', "'property' means nothing when"),
        ("depth = 3", 'depth = 3\nbug = "X"', "'bug' means nothing for kind model"),
        ("depth = 3", "depth = 3\ncheck_deadlock = 1", "'check_deadlock' is no truth value"),
        ("depth = 3", 'depth = 3\nwitnesses = "W"', "'witnesses' is no list"),
        ("depth = 3", "depth = 3\nwitnesses = [1]", "'witnesses' is no list of different names"),
        ("depth = 3", 'depth = 3\nwitnesses = ["A", "A"]', "no list of different names"),
        ("depth = 3", 'depth = 3\ndirectory = "nowhere"', "there is no folder nowhere"),
        ("depth = 3", 'depth = 3\ndirectory = ".."', "'directory' leaves the folder"),
        ('summary = "text"', "", "the key 'summary' is missing"),
        ('"text"', "3", "'summary' is no text"),
        ('"text"', '" "', "'summary' is no text"),
        ('"smoke"', '"tiny"', "manifest.toml:7: model Lock_pass: 'tier' is 'tiny'; use one of"),
        ('"model"', '"mutant"', "kind mutant cannot expect pass"),
        ('expect = "pass"', 'expect = "deadlock"', "kind model cannot expect deadlock"),
        ('"MCLock"', '"Missing"', "the file Missing.tla does not exist"),
        ('"MCLock"', '"../MCLock"', "'module' is '../MCLock', no TLA+ name"),
        ('"Lock_pass"', '"Lock_absent"', "the file Lock_absent.cfg does not exist"),
        ('specifies = "Lock"', 'specifies = "Key"', "there is no module Key"),
    ],
)
def test_a_model_that_is_refused(folder: Path, old: str, new: str, problem: str) -> None:
    assert old in PASSING
    assert problem in _problem(folder, HEAD + PASSING.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('property = "NobodyCountsForEver"\n', "", "the key 'property' is missing"),
        ('"NobodyCountsForEver"', '"AllCount"', "AllCount is not the only PROPERTY of Lock_st"),
        ('"liveness"', '"invariant"', "NobodyCountsForEver is no INVARIANT of Lock_stuttering"),
        ("trace_length = 7", "", "the key 'trace_length' is missing"),
        ("trace_length = 7", "trace_length = 7\ndepth = 3", "'depth' means nothing when"),
        ('"mutant"', '"known_bug"', "the key 'bug' is missing"),
        ('"text"', '"text"\nunreached_actions = ["A"]', "needs a model that passes"),
    ],
)
def test_a_failing_model_that_is_refused(folder: Path, old: str, new: str, problem: str) -> None:
    assert old in LIVENESS
    assert problem in _problem(folder, HEAD + LIVENESS.replace(old, new))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the schema is not"),
        (HEAD.replace("/1", "/9"), "the schema is not wheelproof.manifest/1"),
        (HEAD + "models = 3\n", "unknown key 'models'"),
        (HEAD + "model = [1]\n", "the models are no [[model]] tables"),
        (HEAD + "name =\n", "manifest.toml:2: no TOML"),
        (HEAD + PASSING + PASSING, "manifest.toml:16: model Lock_pass: the name occurs twice"),
    ],
)
def test_a_manifest_that_is_refused(folder: Path, text: str, problem: str) -> None:
    assert problem in _problem(folder, text)


def test_included_models_follow_those_of_the_manifest(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "more.toml").write_text(HEAD + LIVENESS, encoding="utf-8")
    path = folder / "manifest.toml"
    path.write_text(HEAD + 'include = ["parts/more.toml"]\n' + PASSING, encoding="utf-8")
    first, second = load_manifest(path)
    assert (first.name, second.kind, second.manifest) == ("Lock_pass", Kind.MUTANT, path.resolve())


@pytest.mark.parametrize(
    ("included", "part", "problem"),
    [
        ("3", HEAD, "'include' is no list of files"),
        ('["absent.toml"]', HEAD, "absent.toml: there is no such manifest"),
        ('["part.toml"]', HEAD + PASSING, "part.toml:4: model Lock_pass: the name occurs twice"),
        ('["part.toml"]', HEAD + "include = []\n", "part.toml: an included file includes others"),
    ],
)
def test_an_include_that_is_refused(folder: Path, included: str, part: str, problem: str) -> None:
    (folder / "part.toml").write_text(part, encoding="utf-8")
    assert problem in _problem(folder, HEAD + f"include = {included}\n" + PASSING)


def test_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(InputRejectedError, match="there is no such manifest"):
        load_manifest(tmp_path / "manifest.toml")


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(InputRejectedError, match="unreadable"):
        load_manifest(path)


def test_pinning_does_without_the_numbers(folder: Path) -> None:
    text = HEAD + PASSING.replace("depth = 3", "") + LIVENESS.replace("trace_length = 7", "")
    path = folder / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    first, second = load_manifest(path, pinning=True)
    assert (first.distinct, first.depth, second.trace_length) == (1, None, None)
