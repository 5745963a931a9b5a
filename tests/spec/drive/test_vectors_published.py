"""The published vectors: small, verified, kept by the reference and broken by known bugs."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.vectors import PUBLISHED, published, tally_of
from wheelproof.timer import SystemTimer
from wheelproof_lab.bugs.timer import CancelBlindTimer, SubmitAfterTestTimer
from wheelproof_lab.vectors.generate import generate
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.history.lines import Vector, VectorStep
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.timer.component import Cancel, TimerExpectation
from wheelproof_spec.drive.vector_files import with_hash, write_vectors
from wheelproof_spec.tlc.running.launch import find_toolchain

pytestmark = pytest.mark.slow

_BYTES = 5 << 18
_BAD_TIMER = """
import replay
class Timer(replay.Timer):
    def cancel(self, task):
        return task in self.waiting
"""


def _files() -> list[str]:
    return sorted(str(path) for path in PUBLISHED.glob("*.jsonl"))


def _python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return _run([sys.executable, "-S", *arguments], cwd)


def _run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_they_fit_into_a_repository() -> None:
    assert 0 < sum(Path(file).stat().st_size for file in _files()) < _BYTES


def test_their_schema_hash_and_answers_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "verify"]) == ExitCode.PASS
    assert "0 wrong" in capsys.readouterr().out


def test_the_reference_answers_as_published() -> None:
    tally = tally_of(published())
    assert tally.failures == []
    assert tally.passed > 900
    assert set(tally.skipped) == {"of other profiles"}


@pytest.mark.parametrize("timer_class", [CancelBlindTimer, SubmitAfterTestTimer])
def test_a_known_bug_does_not(timer_class: type[SystemTimer]) -> None:
    short = [one for one in published() if len(one.steps) < 30 and "Cancel" in one.flags]
    tally = tally_of(short, timer_class)
    assert tally.verdict is Verdict.FAIL


def test_what_must_be_refused_is_wrong_if_it_is_carried_out() -> None:
    vector = replace(published()[0], result="invalid")
    assert tally_of([vector]).failures[0].violation.expected == "it is refused"


def test_a_wrong_answer_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vector = published()[0]
    path = tmp_path / "spoiled.jsonl"
    step = VectorStep(op="cancel", args=Cancel(task="x"), expect=TimerExpectation(cancelled=True))
    wrong = replace(vector, steps=(step,))
    write_vectors(path, [with_hash(wrong)])
    assert main(["vectors", "verify", str(path)]) == ExitCode.FAIL
    assert "says something else" in capsys.readouterr().out
    assert tally_of([wrong]).failures[0].violation.observed == "cancelled = False"


def test_a_vector_that_was_changed_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "changed.jsonl"
    write_vectors(path, [published()[0]])
    path.write_bytes(path.read_bytes().replace(b'"tick_ms":1', b'"tick_ms":2', 1))
    assert main(["vectors", "list", str(path)]) == ExitCode.INPUT_REJECTED
    assert f"{path}:1: the vector" in capsys.readouterr().err
    write_vectors(path, [published()[0], published()[0]])
    assert main(["vectors", "list", str(path)]) == ExitCode.INPUT_REJECTED
    assert f"{path}:2: the vector" in capsys.readouterr().err


def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "verify", "no/such/*.jsonl"]) == ExitCode.USAGE
    assert main(["vectors", "run"]) == ExitCode.USAGE
    assert "--driver" in capsys.readouterr().err


def test_the_replayer_in_python_needs_nothing_of_ours(tmp_path: Path) -> None:
    replayer = str(PUBLISHED / "replay.py")
    good = _python(replayer, *_files(), cwd=tmp_path)
    assert (good.returncode, good.stderr) == (0, "")
    assert "946 vectors of profile kafka replayed, 0 failed" in good.stdout
    (tmp_path / "bad.py").write_text(_BAD_TIMER, encoding="utf-8")
    program = "import sys; sys.path[:0] = sys.argv[1:3]; sys.argv[1:3] = []\nimport replay\n"
    program += "sys.exit(replay.main())"
    bad = _python(
        "-c",
        program,
        str(tmp_path),
        str(PUBLISHED),
        _files()[0],
        "--timer",
        "bad:Timer",
        cwd=tmp_path,
    )
    assert (bad.returncode, bad.stderr) == (1, "")
    assert "expected" in bad.stdout


@pytest.mark.parametrize("name", ["replay.py", "Replay.java"])
def test_a_replayer_is_short(name: str) -> None:
    assert len((PUBLISHED / name).read_text(encoding="utf-8").splitlines()) < 100


def test_the_replayer_in_java_needs_nothing_of_ours(tmp_path: Path) -> None:
    java = str(find_toolchain().java.path)
    good = _run([java, str(PUBLISHED / "Replay.java"), *_files()], tmp_path)
    assert (good.returncode, good.stderr) == (0, "")
    assert "946 vectors of profile kafka replayed, 0 failed" in good.stdout
    source = (PUBLISHED / "Replay.java").read_text(encoding="utf-8")
    late = source.replace("heap.peek().due() <= now", "heap.peek().due() < now")
    assert late != source
    (tmp_path / "Replay.java").write_text(late, encoding="utf-8")
    bad = _run([java, "Replay.java", _files()[0]], tmp_path)
    assert (bad.returncode, bad.stderr) == (1, "")


@pytest.mark.long
def test_they_are_what_is_generated(tmp_path: Path) -> None:
    generate(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {Path(file).name: Path(file).read_bytes() for file in _files()}


@pytest.mark.parametrize("verb", ["run", "conform"])
def test_a_vector_in_which_the_driver_dies_hides_no_other(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cancels = [vector for vector in published() if '"cancel"' in _text(tmp_path, vector)]
    others = [one for one in published() if one not in cancels and "kafka" in one.profiles]
    path, driver = tmp_path / "some.jsonl", tmp_path / "dies.py"
    write_vectors(path, [cancels[0], *others[:2]])
    source = (ROOT / "adapters" / "python-heapq" / "driver.py").read_text(encoding="utf-8")
    driver.write_text(source.replace('"""Cancel the task."""', "sys.exit(3)"), encoding="utf-8")
    command = f"{sys.executable} -I {driver}"
    if verb == "run":
        # The file may stand behind the options.
        arguments = ["vectors", "run", "--driver", command, str(path)]
    else:
        arguments = ["conform", "--driver", command, "--vectors", str(path), "--cases", "1"]
    assert main(arguments) == ExitCode.INTERNAL_ERROR
    screen = capsys.readouterr().out
    assert screen.startswith("error: the driver ended with exit code 3")
    assert "2 vectors" in screen


def _text(folder: Path, vector: Vector[object, object]) -> str:
    write_vectors(folder / "one.jsonl", [vector])
    return (folder / "one.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["run", "conform"])
def test_they_are_run_on_a_driver(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    driver = f"{sys.executable} -I {ROOT / 'adapters' / 'python-heapq' / 'driver.py'}"
    edges = str(PUBLISHED / "timer-edges-*.jsonl")
    if verb == "run":
        arguments = ["vectors", "run", edges, "--driver", driver]
    else:
        arguments = ["conform", "--driver", driver, "--vectors", edges, "--cases", "10"]
    assert main(arguments) == ExitCode.PASS
    assert ", 0 failed" in capsys.readouterr().out
