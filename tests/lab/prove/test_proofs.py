"""Every proof: all obligations, the TLA+ modules that they are tied to, and their page."""

import pytest

from support import seeds
from support.checkout import ROOT
from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.bugs.known_bug import Finder
from wheelproof_lab.prove import ties
from wheelproof_lab.prove.all_proofs import listed, proofs
from wheelproof_lab.prove.finite import Run
from wheelproof_lab.prove.obligations import SECONDS
from wheelproof_lab.prove.system import Instance, Proof
from wheelproof_lab.prove.tables import Written, read
from wheelproof_lab.prove.terms import fields_in
from wheelproof_lab.prove.timer import catalog
from wheelproof_lab.prove.verb import proved
from wheelproof_lab.publish.proofs import PAGE, modules, render
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.manifest.loader import load_manifest

pytestmark = pytest.mark.slow

NAMES = [one.name for one in listed()]


@pytest.fixture
def proof(name: str) -> Proof:
    """Return the proof of this name; it is made by a test, since for some Java parses a module."""
    (found,) = [one for one in proofs() if one.name == name]
    return found


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("name", seeds.share(NAMES, 2))
def test_every_obligation_is_met(proof: Proof) -> None:
    results = [*proved([proof.name], seconds=SECONDS)]
    open_ones = [one for one in results if one.verdict is not Verdict.PASS]
    assert open_ones == []
    assert len(results) == proof.size()


@pytest.mark.parametrize("name", NAMES)
def test_a_proof_is_derived_or_its_actions_are_tied(proof: Proof) -> None:
    tied = {action.name for one in proofs() if one.ties for action in one.system.actions}
    assert proof.is_derived or {action.name for action in proof.system.actions} <= tied


def test_without_java_nobody_knows_what_a_tie_would_have_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise MissingToolError("java", "install Java 17")

    monkeypatch.setattr(ties, "find_toolchain", missing)
    tied = next(proof for proof in proofs() if proof.ties)
    results = ties.carry_out(tied)
    assert [one.verdict for one in results] == [Verdict.INCONCLUSIVE] * (len(tied.ties) + 1)


def test_the_clauses_are_invariants_of_the_models() -> None:
    models = {model.name: model for model in load_manifest(tla_directory() / "manifest.toml")}
    for proof in proofs():
        assert proof.models
        for name in proof.models:
            assert set(proof.clauses) <= set(models[name].cfg.invariants), name


def test_the_page_and_the_modules_are_made_of_the_proofs() -> None:
    """The remedy is `python -m wheelproof_lab pages proofs`."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == render()
    for path, text in modules().items():
        assert (tla_directory() / path).read_text(encoding="utf-8") == text


def test_every_clause_is_explained_and_nothing_else() -> None:
    for words in {id(proof.words): proof.words for proof in proofs()}.values():
        some = [proof for proof in proofs() if proof.words is words]
        named = {name for one in some for name in (*one.clauses, *one.promises, *one.steps)}
        assert named == set(words)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_assumed_holds_in_the_small_instances(proof: Proof) -> None:
    for instance in (proof.instance, *proof.more_instances):
        _assumed_holds(proof, instance)


@pytest.mark.parametrize(("tick", "size"), [(1, 2), (1, 3), (2, 2), (3, 2)])
def test_what_is_assumed_of_times_holds_for_any_tick_and_size(tick: int, size: int) -> None:
    written = Written(read(catalog.__file__, "system_timer.toml", "lateness.toml"))
    levels, times = range(3), range(6)
    names = {
        "Time": map(str, times),
        "Level": map(str, levels),
        "Bucket": (f"{level}.{index}" for level in levels for index in range(size)),
        "Task": (),
        "Thread": (),
    }
    elements = {written.sorts[name]: tuple(some) for name, some in names.items()}
    empty = Instance(elements=elements, rigid={})
    proof = written.proof()
    _assumed_holds(proof, catalog.with_times(written, empty, tick, size))


def _assumed_holds(proof: Proof, instance: Instance) -> None:
    more = [field for term in proof.system.assumed.values() for field in fields_in(term)]
    run = Run(proof.system, instance, more)
    first, _ = next(run.states())
    for name, term in proof.system.assumed.items():
        assert run.world.holds(term, first), name


def test_the_known_bugs_that_a_proof_finds_say_so() -> None:
    refuted = {one.bug for proof in proofs() for one in proof.variants} - {""}
    assert refuted == {bug.id for bug in bugs() if Finder.PROOF in bug.finders}
