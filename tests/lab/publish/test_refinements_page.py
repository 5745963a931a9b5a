"""docs/proofs/refinements.md is what modules and manifest say; no arrow goes unchecked."""

import pytest

from wheelproof_lab.publish.refinements import PAGE, arrows, instances, render
from wheelproof_spec.base.resources import checkout_directory, tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest

MANIFEST = tla_directory() / "manifest.toml"

pytestmark = pytest.mark.slow


def test_refinements_page_is_up_to_date() -> None:
    checkout = checkout_directory()
    assert checkout is not None
    page = (checkout / PAGE).read_text(encoding="utf-8")
    assert page == render(MANIFEST), "renew it: python -m wheelproof_lab pages refinements"


def test_refinements_are_checked_and_some_mistake_breaks_each_pair() -> None:
    found = arrows(tla_directory(), load_manifest(MANIFEST))
    checked = {(arrow.lower, arrow.upper) for arrow in found if arrow.models}
    broken = {(arrow.lower, arrow.upper) for arrow in found if arrow.mistakes}
    assert checked == broken == instances(tla_directory())
    assert all(arrow.models for arrow in found)


def test_refinements_join_the_request_to_the_wheel() -> None:
    pairs = {(one.lower, one.upper) for one in arrows(tla_directory(), load_manifest(MANIFEST))}
    assert {
        ("AcksAll", "KeyedOperations"),
        ("AcksAll", "Timer"),
        ("Purgatory", "KeyedOperations"),
        ("KeyedOperations", "DelayedOperation"),
        ("SystemTimer", "Timer"),
    } <= pairs
