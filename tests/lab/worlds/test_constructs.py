"""No construct of Python hides a lost update from the model checker: it fails, or says it is blind.

docs/soundness.md is made from the same outcomes.
"""

import re
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_lab.publish import soundness
from wheelproof_lab.worlds.constructs.programs import outcome
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS, Construct

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda construct: construct.name)
def test_a_lost_update_does_not_pass(construct: Construct, tmp_path: Path) -> None:
    found = outcome(construct, tmp_path, CONSTRUCTS.index(construct))
    assert found.problem() == ""
    page = (ROOT / soundness.PAGE).read_text(encoding="utf-8")
    row = soundness.row(construct, found)
    assert row in page.splitlines(), f"renew it, python -m wheelproof_lab pages soundness: {row}"


def test_the_page_has_no_other_rows() -> None:
    page = (ROOT / soundness.PAGE).read_text(encoding="utf-8")
    assert len(re.findall(r"^\| .* \| (?:seen|inconclusive.*) \|$", page, re.MULTILINE)) == len(
        CONSTRUCTS
    )
