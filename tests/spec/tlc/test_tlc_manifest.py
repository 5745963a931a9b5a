"""The manifest: what it says is checked to the last key."""

import shutil
from pathlib import Path

import pytest

from support.tlc.toolchains import FIXTURES, MANIFEST
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Tier

HEAD = 'schema = "wheelproof.manifest/1"\n'
PASSING = """
[model.MCLock_pass]
tier = "smoke"
distinct = 1
generated = 2
depth = 3
summary = "text"
"""
LIVENESS = """
[mutant.MCLock_stuttering]
base = "MCLock_pass"
constants = { Threads = "{t1}" }
replace = { Next = "DeadEnd" }
expect = "liveness: NobodyCountsForEver"
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
    known_bug = models["MCLock_known_bug"]
    assert (known_bug.kind, known_bug.tier) == (Kind.KNOWN_BUG, Tier.SMOKE)
    assert (known_bug.expect, known_bug.property) == (
        Expectation.INVARIANT,
        "OnlyTheOwnerIsInside",
    )
    assert known_bug.module_path == FIXTURES.resolve() / "LockWithoutTest.tla"
    assert known_bug.bug == "LOCK-1"
    assert (known_bug.specifies, known_bug.cfg.invariants) == ("Lock", ("OnlyTheOwnerIsInside",))
    passing = models["MCLock_pass"]
    assert (passing.module, passing.specifies, passing.tier) == ("MCLock", "Lock", Tier.SMOKE)
    assert passing.check_deadlock
    assert passing.library == (FIXTURES.resolve(), FIXTURES.resolve() / "models")
    lasso = models["MCLock_lasso"]
    assert lasso.module == "MCLock_bugs"
    assert not lasso.check_deadlock
    assert "SPECIFICATION ForEverSpec\n" in lasso.cfg.text
    assert (lasso.cfg.invariants, lasso.cfg.properties) == ((), ("AllCount",))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("depth = 3", "depht = 3", "manifest.toml:7: model MCLock_pass: unknown key 'depht'"),
        (
            "depth = 3",
            "",
            "manifest.toml:3: model MCLock_pass: the key 'depth' is missing; me",
        ),
        ("depth = 3", "depth = -3", "manifest.toml:7: model MCLock_pass: 'depth' is no number"),
        ("depth = 3", "depth = true", "'depth' is no number of states"),
        ("depth = 3", 'depth = "3"', "'depth' is no number of states"),
        ("depth = 3", "depth = 3\ntrace_length = 2", "unknown key 'trace_length'"),
        ("depth = 3", 'depth = 3\nexpect = "deadlock"', "unknown key 'expect'"),
        ("depth = 3", 'depth = 3\nbug = "X"', "unknown key 'bug'"),
        ("depth = 3", "depth = 3\ncheck_deadlock = 1", "'check_deadlock' is no truth value"),
        ("depth = 3", 'depth = 3\nwitnesses = "W"', "'witnesses' is no list"),
        ("depth = 3", "depth = 3\nwitnesses = [1]", "'witnesses' is no list of different names"),
        ("depth = 3", 'depth = 3\nwitnesses = ["A", "A"]', "no list of different names"),
        ('summary = "text"', "", "the key 'summary' is missing"),
        ('"text"', "3", "'summary' is no text"),
        ('"text"', '" "', "'summary' is no text"),
        ('"smoke"', '"tiny"', "manifest.toml:4: model MCLock_pass: 'tier' is 'tiny'; use one of"),
        ("MCLock_pass", "MCLock", "the name is that of a module; call it MCLock_"),
        ("MCLock_pass", "MC-Lock_pass", "the name is no TLA+ name"),
        ("MCLock_pass", "MCMissing_pass", "the file models/MCMissing/pass.cfg does not exist"),
        ("MCLock_pass", "MCLock_absent", "the file models/MCLock/absent.cfg does not exist"),
        ("[model.MCLock_pass]", "[model]", "'model' is no set of tables; begin each with"),
    ],
)
def test_a_model_that_is_refused(folder: Path, old: str, new: str, problem: str) -> None:
    assert old in PASSING
    assert problem in _problem(folder, HEAD + PASSING.replace(old, new))


@pytest.mark.parametrize("absent", ["Lock.tla", "models/MCLock.tla"])
def test_a_module_that_is_not_there(folder: Path, absent: str) -> None:
    (folder / absent).unlink()
    assert f"the file {absent} does not exist" in _problem(folder, HEAD + PASSING)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('base = "MCLock_pass"\n', "", "the key 'base' is missing"),
        ('base = "MCLock_pass"', 'base = "MCLock_none"', "there is no base MCLock_none above"),
        ('"liveness: NobodyCountsForEver"', '"liveness"', "'expect' is 'liveness'; use one of as"),
        ('"liveness: NobodyCountsForEver"', '"liveness: "', "'expect' is 'liveness: '; use one"),
        ('"liveness: NobodyCountsForEver"', '"deadlock: X"', "'expect' is 'deadlock: X'; use one"),
        ('"liveness: NobodyCountsForEver"', '"pass"', "'expect' is 'pass'; use one of"),
        ('"liveness: NobodyCountsForEver"', '"liveness: a b"', "'a b' is no TLA+ name"),
        ('"liveness: NobodyCountsForEver"', '"assumption"', "'trace_length' means nothing"),
        ("trace_length = 7", "", "the key 'trace_length' is missing"),
        ("trace_length = 7", "trace_length = 7\ndepth = 3", "unknown key 'depth'"),
        ("[mutant.", "[known_bug.", "the key 'bug' is missing"),
        ("[mutant.", "[defect.", "unknown key 'defect'"),
        ("MCLock_stuttering", "MCLock_pass", "10: mutant MCLock_pass: the name occurs twice"),
        ('"text"', '"text"\nunreached_actions = ["A"]', "unknown key 'unreached_actions'"),
        ('"text"', '"text"\nmodule = "Missing"', "the file Missing.tla does not exist"),
        ('"text"', '"text"\nmodule = "../MCLock"', "'module' is '../MCLock', no TLA+ name"),
        ('"text"', '"text"\nspecification = "A /\\\\ B"', "'specification' is 'A /\\\\ B', no"),
        ("Threads =", "Thread =", "manifest.toml:12: mutant MCLock_stuttering: MCLock_pass has no"),
        ('{ Threads = "{t1}" }', "3", "'constants' is no table"),
        ('"{t1}"', "true", "'Threads' of 'constants' has no value of TLA+"),
        ('"DeadEnd"', '""', "'Next' of 'replace' has no value of TLA+"),
    ],
)
def test_a_failing_model_that_is_refused(folder: Path, old: str, new: str, problem: str) -> None:
    assert old in LIVENESS
    assert problem in _problem(folder, HEAD + PASSING + LIVENESS.replace(old, new))


def test_a_base_that_is_no_model_is_varied_once_more(folder: Path) -> None:
    base = '[base.MCLock_one]\nbase = "MCLock_pass"\nconstants = { Threads = "{t3}" }\n'
    mutant = LIVENESS.replace('"MCLock_pass"\nconstants = { Threads = "{t1}" }', '"MCLock_one"')
    path = folder / "manifest.toml"
    path.write_text(HEAD + PASSING + base + mutant, encoding="utf-8")
    first, second = load_manifest(path)
    assert (first.name, second.cfg.constants["Threads"]) == ("MCLock_pass", "{t3}")


FROM_ANOTHER = """
[model.MCLock_alone]
base = "MCLock_pass"
constants = { Threads = "{t1}" }
invariants = ["OneIsInside"]
properties = ["NobodyCountsForEver"]
without = ["OnlyTheOwnerIsInside"]
distinct = 4
generated = 5
depth = 6
summary = "text"
"""


def test_a_model_that_starts_from_another_checks_what_that_checks_but_for_what_it_names(
    folder: Path,
) -> None:
    path = folder / "manifest.toml"
    mutant = LIVENESS.replace('"MCLock_pass"', '"MCLock_alone"')
    path.write_text(HEAD + PASSING + FROM_ANOTHER + mutant, encoding="utf-8")
    base, model, failing = load_manifest(path)
    checks = [one for one in base.cfg.checked if one[1] != "OnlyTheOwnerIsInside"]
    assert len(checks) == len(base.cfg.checked) - 1
    added = [("INVARIANT", "OneIsInside"), ("PROPERTY", "NobodyCountsForEver")]
    assert sorted(model.cfg.checked) == sorted([*checks, *added])
    assert (model.kind, model.cfg.constants["Threads"]) == (Kind.MODEL, "{t1}")
    assert (model.module, model.distinct) == ("MCLock", 4)
    assert failing.cfg.checked == (("PROPERTY", "NobodyCountsForEver"),)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('base = "MCLock_pass"\n', "", "manifest.toml:11: model MCLock_alone: 'constants' differs"),
        ("MCLock_alone", "MCOther_alone", "its base is one of MCLock; name another base"),
        ('["OnlyTheOwnerIsInside"]', '["Other"]', "its base does not check Other; correct the"),
        ('["OneIsInside"]', '["TypeOK"]', "its base checks TypeOK already; leave it out"),
        ("Threads =", "Thread =", "MCLock_pass has no constant Thread; correct the name"),
    ],
)
def test_a_model_that_starts_from_another_and_is_refused(
    folder: Path, old: str, new: str, problem: str
) -> None:
    assert old in FROM_ANOTHER
    assert problem in _problem(folder, HEAD + PASSING + FROM_ANOTHER.replace(old, new))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the schema is not"),
        (HEAD.replace("/1", "/9"), "the schema is not wheelproof.manifest/1"),
        (HEAD + "models = 3\n", "unknown key 'models'"),
        (HEAD + "model = [1]\n", "'model' is no set of tables; begin each with [model.NAME]"),
        (HEAD + "model.MCLock_pass = 3\n", "'model' is no set of tables; begin each with"),
        (HEAD + "name =\n", "manifest.toml:2: no TOML"),
        (HEAD + PASSING + PASSING, "manifest.toml:10: no TOML: Cannot declare"),
    ],
)
def test_a_manifest_that_is_refused(folder: Path, text: str, problem: str) -> None:
    assert problem in _problem(folder, text)


def test_included_models_follow_those_of_the_manifest(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "more.toml").write_text(HEAD + LIVENESS, encoding="utf-8")
    shutil.copy(folder / "MCLock_bugs.tla", folder / "parts")
    path = folder / "manifest.toml"
    path.write_text(HEAD + 'include = ["parts/more.toml"]\n' + PASSING, encoding="utf-8")
    first, second = load_manifest(path)
    assert (first.name, second.kind, second.manifest) == (
        "MCLock_pass",
        Kind.MUTANT,
        path.resolve(),
    )
    parts = folder.resolve() / "parts"
    assert second.module_path == parts / "MCLock_bugs.tla"
    assert second.library == (folder.resolve(), folder.resolve() / "models", parts)
    assert second.cfg.text.startswith(
        "\\* MCLock_stuttering: MCLock_pass, but for what parts/more.toml says of it.\n"
    )


@pytest.mark.parametrize(
    ("included", "part", "problem"),
    [
        ("3", HEAD, "'include' is no list of files"),
        ('["absent.toml"]', HEAD, "absent.toml: there is no such manifest"),
        ('["part.toml"]', HEAD + PASSING, "part.toml:3: model MCLock_pass: the name occurs twice"),
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
