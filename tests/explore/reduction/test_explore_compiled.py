"""The compiled modules find what the pure ones find: counts, digests, schedules, graphs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import REFERENCE, ROOT, SPEC
from support.explore.figures import main as print_figures
from tools.checkout import Checkout
from tools.compiled import compile_engine


def _figures(*folders: Path) -> tuple[str, list[str]]:
    """Return where the engine is that is found in these folders, and what it finds."""
    path = os.pathsep.join(map(str, [*folders, ROOT / "tests"]))
    ended = subprocess.run(
        [sys.executable, "-m", print_figures.__module__],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    engine, *lines = ended.stdout.splitlines()
    return engine, lines


@pytest.mark.long
def test_compiled_modules_find_what_pure_ones_find(tmp_path: Path) -> None:
    if shutil.which("cc") is None and "CI" not in os.environ:
        pytest.skip("there is no C compiler")
    compile_engine(Checkout(root=ROOT), tmp_path / "compiled")
    compiled, found = _figures(tmp_path / "compiled")
    pure, expected = _figures(REFERENCE, SPEC)
    assert compiled.endswith(".so")
    assert pure.endswith(".py")
    assert found == expected
    assert len(found) > 200
