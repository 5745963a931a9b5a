"""How tests are given to processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT, python_files
from support.scheduling import SCATTERED


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


def test_what_is_scattered_is_there() -> None:
    files = python_files(ROOT / "tests", ROOT / "stateful_tests")
    texts = [path.read_text(encoding="utf-8") for path in files]
    for name in SCATTERED:
        assert sum(f"\ndef {name}(" in text for text in texts) == 1, name


@pytest.mark.slow
def test_a_scattered_test_is_shared_by_the_processes(tmp_path: Path) -> None:
    test = "@pytest.mark.parametrize('number', range(40))\ndef {}(number, worker_id):\n"
    body = "    print(worker_id, file=open(f'{number}.{worker_id}', 'w'))\n"
    source = "import pytest\n" + test.format(SCATTERED[0]) + body
    (tmp_path / "test_one.py").write_text(source, encoding="utf-8")
    words = ("-n", "2", "--dist", "loadfile", "-p", "support.scheduling", "-p", "no:cacheprovider")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    ran = [path.name.split(".") for path in tmp_path.glob("*.gw*")]
    assert sorted(int(number) for number, _ in ran) == list(range(40))
    assert {worker for _, worker in ran} == {"gw0", "gw1"}
