"""No construct of Python hides a lost update from the model checker: it fails, or says it is blind.

In a process of their own: all modules that are loaded and not installed count as the user's.
"""

import subprocess
import sys

import pytest

from support.checkout import ROOT
from wheelproof_lab.publish import soundness
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS

pytestmark = pytest.mark.long

_RENDER = "from wheelproof_lab.publish import soundness; print(soundness.render(), end='')"


def test_no_lost_update_passes_and_the_page_says_what_exploring_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RENDER], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / soundness.PAGE).read_text(encoding="utf-8")
    assert done.stdout == page, "renew it: python -m wheelproof_lab pages soundness"
    assert page.count("| seen |") + page.count("| inconclusive: ") == len(CONSTRUCTS)
