"""How tests are given to processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT


@pytest.mark.slow
def test_a_test_that_ends_its_process_fails_once_and_the_others_are_run(tmp_path: Path) -> None:
    ends = "import os\ndef test_before(): pass\ndef test_ends(): os._exit(1)\n"
    (tmp_path / "test_ends.py").write_text(f"{ends}def test_after(): pass\n", encoding="utf-8")
    (tmp_path / "test_whole.py").write_text("def test_whole(): pass\n", encoding="utf-8")
    words = ("-n", "2", "--dist", "loadfile", "-p", "support.scheduling", "-p", "no:cacheprovider")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.count("FAILED") == 1, done.stdout
    assert "1 failed, 3 passed" in done.stdout
