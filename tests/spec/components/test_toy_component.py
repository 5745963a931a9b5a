"""A component more is one folder and one line: here a bounded counter, in every engine."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT

pytestmark = pytest.mark.slow

PROGRAM = (sys.executable, str(ROOT / "tests" / "support" / "toy" / "with_counter.py"))
DRIVER = shlex.join([*PROGRAM, "--serve"])


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)


def test_the_counter_is_driven_and_its_clauses_are_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = _run(
        *("conform", "--driver", DRIVER, "--component", "counter"),
        *("--cases", "20", "--json", str(report)),
    )
    assert done.returncode == 0, done.stderr
    clauses = json.loads(report.read_text(encoding="utf-8"))["clauses"]
    assert {row["clause"] for row in clauses} == {
        "Counter.CountsUpToItsBound",
        "Counter.TellsWhatItCounted",
        "Counter.KeepsToItsDomain",
    }
    assert all(row["checked"] > 0 for row in clauses)


def test_the_counter_is_recorded_and_judged(tmp_path: Path) -> None:
    histories = tmp_path / "counter.jsonl"
    recorded = _run(
        *("record", "--component", "counter", "--output", str(histories)),
        *("--operations", "200", "--threads", "4"),
    )
    assert recorded.returncode == 0, recorded.stderr
    checked = _run("check", str(histories))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    wrong = histories.read_text(encoding="utf-8").replace('"value":{"value":', '"value":{"value":9')
    histories.write_text(wrong, encoding="utf-8")
    refuted = _run("check", str(histories))
    assert refuted.returncode == 1
    assert "Counter.TellsWhatItCounted is broken" in refuted.stdout


@pytest.mark.parametrize(
    ("bug", "code"),
    # Whether real threads meet is luck; test_the_counter_is_explored finds this bug for sure.
    [((), 0), pytest.param(("--bug", "racy"), 1, marks=pytest.mark.hunt)],
)
def test_the_counter_is_fuzzed_with_real_threads(bug: tuple[str, ...], code: int) -> None:
    words = ("fuzz", "counter", "--threads", "real", "--seed", "1", "--cases", "100")
    done = _run(*words, *bug)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("Counter.TellsWhatItCounted is broken" in done.stdout) is bool(bug)


@pytest.mark.parametrize(("program", "code"), [("TWO", 0), ("RACY", 1)])
def test_the_counter_is_explored(program: str, code: int) -> None:
    done = _run("explore", f"wheelproof_spec.components.counter.programs:{program}")
    assert done.returncode == code, done.stdout + done.stderr


def test_a_failing_case_of_the_counter_is_drawn(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    forgetful = tmp_path / "driver.py"
    forgetful.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(PROGRAM[1]).parent)!r})\n"
        "import with_counter\n"
        "from wheelproof_spec import components\n"
        "components.__path__.append(str(with_counter.FOLDER))\n"
        "from wheelproof_spec.components.counter import reference\n"
        "reference.BoundedCounter._increment = reference.ForgetfulCounter._increment\n"
        "sys.exit(with_counter.main(['--serve']))\n",
        encoding="utf-8",
    )
    driver = shlex.join([sys.executable, str(forgetful)])
    words = ("conform", "--driver", driver, "--component", "counter", "--cases", "20")
    done = _run(*words, "--html", str(page))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Counter.CountsUpToItsBound" in page.read_text(encoding="utf-8")
    assert '<svg class="bar"' in page.read_text(encoding="utf-8")
