"""The adapters to start from pass as they are, and fail once one line is wrong."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.drive.adapters import ADAPTERS, conform, python
from support.toolchains import require
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.registry import COMPONENTS
from wheelproof_spec.drive.plan import OVERLAPPING
from wheelproof_spec.drive.usual import LANGUAGES, template

TEMPLATE = ADAPTERS / "template"
NODE_MODULES = ADAPTERS / "ports-node" / "node_modules"
BUILT = {
    "go": ("go", "build", "-o", "{program}", "{source}"),
    "rust": ("rustc", "--edition", "2024", "-o", "{program}", "{source}"),
    "java": ("javac", "-d", "{program}", "{source}"),
}
STARTED = {"java": "java -cp {program} Adapter"}
"""How what is built is started, if that is not by its name."""
WITHOUT_CAPABILITY = {
    "buffer_pool": {"BufferPool.KeepsBuffers", "BufferPool.CountsTheTimeWaited"},
    "accumulator": {
        "Accumulator.NoAppendWaitsForWhatIsThere",
        "Accumulator.SplitMakesBatchesOfTheSize",
        "Accumulator.ReadyTellsTheTruth",
        "Accumulator.ReadyNamesTheTopicsWithoutALeader",
        "Accumulator.ReadyTellsWhenToLookAgain",
        "Accumulator.ExpiryTellsWhenTheNextIsDue",
        "Accumulator.ExpiresWhatIsLate",
        "Accumulator.MemoryIsConserved",
        "Accumulator.ARequestIsNotOverwritten",
    },
}
"""The clauses that ask for what a template leaves out: a pool for the accumulator, among others."""
RIGHT_AND_WRONG = {
    "timer": ("<=", "<"),
    "purgatory": ("<=", "<"),
    "buffer_pool": ("<=", "<"),
    "accumulator": (">=", ">"),
    "replication": ("<", "<="),
}
COMPARED = {
    ("timer", "python"): "due_ms {} to_ms",
    ("timer", "typescript"): "dueMs {} to_ms",
    ("timer", "go"): "dueMs {} m.nowMs &&",
    ("timer", "rust"): "*due_ms {} self.now_ms",
    ("timer", "java"): "one.getValue() {} nowMs",
    ("purgatory", "python"): "one.due_ms {} to_ms",
    ("purgatory", "typescript"): "dueMs {} to_ms",
    ("purgatory", "go"): "one.dueMs {} m.nowMs",
    ("purgatory", "rust"): "*due_ms {} self.now_ms",
    ("purgatory", "java"): "dueMs {} nowMs",
    ("buffer_pool", "python"): "size {} self.free",
    ("buffer_pool", "typescript"): "size {} this.free",
    ("buffer_pool", "go"): "one.size {} m.free",
    ("buffer_pool", "rust"): "one.size {} self.free",
    ("buffer_pool", "java"): "one.size {} free",
    ("accumulator", "python"): "waited_ms {} self.linger_ms",
    ("accumulator", "typescript"): "waitedMs {} linger_ms",
    ("accumulator", "go"): "waitedMs {} m.LingerMs",
    ("accumulator", "rust"): "waited_ms {} self.linger_ms",
    ("accumulator", "java"): 'waitedMs {} config.number("linger_ms")',
    ("replication", "python"): "replica.high_watermark {} end",
    ("replication", "typescript"): "replica.highWatermark {} end",
    ("replication", "go"): "r.highWatermark {} end",
    ("replication", "rust"): "replica.high_watermark {} end",
    ("replication", "java"): "replica.highWatermark {} end",
}
"""A comparison in each template; the wrong one is off by one."""
MEET = ("timer", "buffer_pool", "purgatory")
"""The components whose callers may meet."""
SLOW_CANCEL = {
    "go": (
        "_, waits := m.dueMs[a.Task]",
        "_, waits := m.dueMs[a.Task]; time.Sleep(time.Millisecond)",
        '"sync"\n',
        '"sync"\n"time"\n',
    ),
    "java": (
        'return new Fields().with("cancelled", dueMs.remove(task) != null);',
        "boolean waits = dueMs.containsKey(task);"
        "java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);"
        'dueMs.remove(task); return new Fields().with("cancelled", waits);',
    ),
}
"""A cancel in two steps, with time for another caller between them."""
LOCK = {"go": r"(?:defer )?m\.mu\.(?:Lock|Unlock)\(\)", "java": "synchronized (?=Fields perform)"}
"""What makes one caller wait for another."""


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_template_is_one_file_of_its_component(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conform", "--component", "purgatory", "--template", name]) == ExitCode.PASS
    printed = capsys.readouterr().out
    assert "cancel_for_key" in printed
    assert "wheelproof.driver/1" in printed
    assert "cancel_for_key" not in template(name, "buffer_pool")


def test_a_recorder_is_one_of_a_timer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--template", "recorder"]) == ExitCode.PASS
    printed = capsys.readouterr().out
    assert printed == (TEMPLATE / "recorder.py").read_text(encoding="utf-8")
    words = ["conform", "--template", "recorder", "--component", "purgatory"]
    assert main(words) == ExitCode.USAGE
    assert "is one of a timer" in capsys.readouterr().err


def _spoilt(source: str, component: str, language: str) -> str:
    right, wrong = RIGHT_AND_WRONG[component]
    compared = COMPARED[component, language]
    assert source.count(compared.format(right)) == 1
    return source.replace(compared.format(right), compared.format(wrong))


def _meeting(source: str, component: str) -> str:
    """Let an adapter declare that callers may meet, if those of its component can."""
    if component not in MEET:
        return source
    assert source.count('"virtual_time"') == 1
    return source.replace('"virtual_time"', '"virtual_time", "concurrent"')


def _judged(driver: str, component: str, wrong: str) -> None:
    """Judge an adapter, and one that is wrong in one place."""
    result = conform(driver, 20, component=component)
    bursts = [case.summary for case in result.results if case.name == OVERLAPPING]
    assert len(bursts) == (component in MEET)
    assert all(summary.startswith("2 cases, ") for summary in bursts)
    assert result.verdict is Verdict.PASS
    unchecked = {count.clause for count in result.clauses if not count.checked}
    unchecked = {clause for clause in unchecked if "." in clause}
    assert unchecked == WITHOUT_CAPABILITY.get(component, set())
    assert conform(wrong, 10, component=component).verdict is Verdict.FAIL


def _built(source: str, language: str, program: Path) -> str:
    """Build an adapter; return the command that starts it."""
    require(BUILT[language][0])
    file = program.with_suffix(f".{LANGUAGES[language]}")
    file.write_text(source, encoding="utf-8")
    words = [word.format(program=program, source=file) for word in BUILT[language]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return STARTED.get(language, "{program}").format(program=shlex.quote(str(program)))


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_adapter_in_python_passes(component: str, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    source = template("python", component)
    right.write_text(_meeting(source, component), encoding="utf-8")
    wrong.write_text(_spoilt(source, component, "python"), encoding="utf-8")
    _judged(python(right), component, python(wrong))


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("language", BUILT)
def test_the_adapter_that_is_built_passes(language: str, component: str, tmp_path: Path) -> None:
    source = template(language, component)
    wrong = _built(_spoilt(source, component, language), language, tmp_path / "wrong")
    right = _built(_meeting(source, component), language, tmp_path / "right")
    _judged(right, component, wrong)


@pytest.mark.hunt
@pytest.mark.parametrize("language", SLOW_CANCEL)
def test_callers_that_meet_need_the_lock(language: str, tmp_path: Path) -> None:
    slow = _meeting(template(language, "timer"), "timer")
    changes = SLOW_CANCEL[language]
    for before, behind in zip(changes[::2], changes[1::2], strict=True):
        assert before in slow
        slow = slow.replace(before, behind)
    assert conform(_built(slow, language, tmp_path / "locked"), 300).verdict is Verdict.PASS
    without, found = re.subn(LOCK[language], "", slow)
    assert found
    result = conform(_built(without, language, tmp_path / "unlocked"), 300)
    # Go may end the program when it sees that two write a map; that is no pass either.
    assert result.verdict in {Verdict.FAIL, Verdict.ERROR}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the adapters in TypeScript as JavaScript, which any Node runs."""
    require("node", "npm")
    subprocess.run([ADAPTERS / "ports-node" / "run", "build"], check=True)
    folder = tmp_path_factory.mktemp("typescript")
    sources = [folder / f"{component}.ts" for component in COMPONENTS]
    for component, source in zip(COMPONENTS, sources, strict=True):
        source.write_text(template("typescript", component), encoding="utf-8")
    # What is erasable is what a newer Node runs as it is.
    options = ["--strict", "--noUnusedLocals", "--erasableSyntaxOnly", "--target", "es2022"]
    options += ["--module", "nodenext", "--types", "node", "--typeRoots"]
    options += [str(NODE_MODULES / "@types")]
    compiler = ["node", str(NODE_MODULES / "typescript" / "bin" / "tsc")]
    words = [*compiler, *options, *map(str, sources)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_the_adapter_in_typescript_passes(component: str, compiled: Path) -> None:
    right, wrong = compiled / f"{component}.js", compiled / f"{component}-wrong.js"
    source = right.read_text(encoding="utf-8")
    wrong.write_text(_spoilt(source, component, "typescript"), encoding="utf-8")
    right.write_text(_meeting(source, component), encoding="utf-8")
    _judged(shlex.join(["node", str(right)]), component, shlex.join(["node", str(wrong)]))


def _recorded(source: str, folder: Path) -> Path:
    script, run = folder / "recorder.py", folder / "run.jsonl"
    script.write_text(source, encoding="utf-8")
    with run.open("wb") as stream:
        command = [sys.executable, "-I", str(script), "5"]
        subprocess.run(command, stdout=stream, check=True)
    return run


def test_the_recorder_records_what_passes_and_what_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (TEMPLATE / "recorder.py").read_text(encoding="utf-8")
    assert main(["check", str(_recorded(source, tmp_path))]) == ExitCode.PASS
    guarded = "if self._waiting.pop(task, None) is not None:"
    assert guarded in source
    broken = source.replace(guarded, "if True:").replace(
        "            timer.cancel()\n", "            pass\n"
    )
    assert main(["check", str(_recorded(broken, tmp_path))]) == ExitCode.FAIL
    assert "is broken" in capsys.readouterr().out
