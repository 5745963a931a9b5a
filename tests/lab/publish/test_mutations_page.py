"""docs/proofs/mutations.md is what the manifest says; every promise of a module can be broken."""

import re

import pytest

from wheelproof_lab.publish.mutations import PAGE, render, unbroken
from wheelproof_spec.base.resources import checkout_directory, tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind

pytestmark = pytest.mark.slow

MANIFEST = tla_directory() / "manifest.toml"

# What a mistake would have to break that TLC has not been shown.
UNBROKEN = {
    "TypeOK",  # broken in some modules; in the others a sketch of the variables
    "RefinesTimerButForLiveness",  # part of RefinesTimer
    "LinkedTasksWaitOrAreLeftovers",
}
# Mistakes that every property of their modules once survived, and who kills them.
SURVIVED = {
    "MCEntryMigration_cancel_removes_nothing": "CancelTakesTheEntryOut",
    "MCEntryMigration_cancel_removes_once": "CancelTakesTheEntryOut",
    "MCEntryMigration_add_removes_nothing": "AddTakesTheOlderEntryOut",
    "MCRecordAccumulator_drain_the_last": "CallbacksRunInTheOrderOfAppends",
    "MCRecordAccumulator_split_in_reverse": "CallbacksRunInTheOrderOfAppends",
    "MCRecordAccumulator_abort_in_reverse": "CallbacksRunInTheOrderOfAppends",
    "MCRecordAccumulator_abort_by_number": "CallbacksRunInTheOrderOfAppends",
    "MCRecordAccumulator_queued_first": "CallbacksRunInTheOrderOfAppends",
    "MCRecordAccumulator_split_drops": "EveryRecordCompletes",
    "MCRecordAccumulator_flush_awaits_the_split": "FlushEnds",
    "MCPurgatory_drops_nothing": "TriggerDropsWhatItCompletes",
    "MCPurgatory_leaves_what_is_done": "TriggerDropsWhatIsDone",
    "MCBufferPool_drops_all_buffers": "BuffersAreBrokenUpOnlyAsNeeded",
}


def test_mutations_page_is_up_to_date() -> None:
    checkout = checkout_directory()
    assert checkout is not None
    page = (checkout / PAGE).read_text(encoding="utf-8")
    assert page == render(MANIFEST), "renew it: python -m wheelproof_lab pages mutations"


def _clauses_of_proofs() -> set[str]:
    """Return the invariants that z3 proves, and whose broken variants it refutes."""
    modules = tla_directory().glob("*/models/*Proof.tla")
    return {
        name
        for module in modules
        for name in re.findall(r"^(\w+) ==", module.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_mutations_break_every_promise() -> None:
    models = load_manifest(MANIFEST)
    modules = {model.specifies for model in models}
    left = {promise for module in modules for promise in unbroken(module, models)}
    assert left - _clauses_of_proofs() <= UNBROKEN


@pytest.mark.parametrize(("name", "promise"), SURVIVED.items())
def test_mutation_that_survived_breaks_a_property_of_its_own(name: str, promise: str) -> None:
    models = {model.name: model for model in load_manifest(MANIFEST)}
    assert models[name].property == promise
    passing = [model for model in models.values() if model.kind is Kind.MODEL]
    cfgs = [model.cfg for model in passing if model.specifies == models[name].specifies]
    assert any(promise in (*cfg.invariants, *cfg.properties) for cfg in cfgs)
