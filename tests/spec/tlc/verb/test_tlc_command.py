"""The verb: exit codes, what it prints, and that a signal leaves no Java behind."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.tlc.toolchains import FIXTURES, MANIFEST, fixture_model
from support.tlc.verb import run_verb
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.tlc.manifest.loader import load_manifest

pytestmark = pytest.mark.slow

INTERRUPTED = """
import sys
from pathlib import Path
from wheelproof_spec.tlc.running.launch import find_toolchain
from wheelproof_spec.app.program import termination_as_interrupt
from wheelproof_spec.tlc.judging.runner import RunSettings, SilentObserver, run_models
from wheelproof_spec.tlc.manifest.loader import load_manifest

class Observer(SilentObserver):
    def progressed(self, model, statistics, depth):
        print("running", flush=True)

models = load_manifest(Path(sys.argv[1]))
with termination_as_interrupt():
    outcomes = run_models(find_toolchain(), models, RunSettings(), Observer())
print([(outcome.verdict.value, outcome.summary()) for outcome in outcomes])
"""
ENDLESS = """
[model.MCLock_{name}]
distinct = 1
generated = 1
depth = 1
summary = "A history that grows for ever."
"""


def test_a_pass(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report, junit = tmp_path / "out" / "tlc.json", tmp_path / "tlc.xml"
    options = ["--manifest", str(MANIFEST), "--json", str(report), "--junit", str(junit)]
    assert run_verb("MCLock_pass", "MCLock_invariant", "--explain", "--coverage", *options) == 0
    printed = capsys.readouterr()
    assert "tlc: pass (2 pass of 2 models)" in printed.out
    assert "TLC2 Version" in printed.out
    assert "3. Count, thread t1" in printed.out
    assert "Acquire (Lock)" in printed.out
    assert "[2/2]" in printed.err
    assert json.loads(report.read_text(encoding="utf-8"))["verdict"] == "pass"
    assert junit.is_file()


def test_a_failure_tells_its_story(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES, tmp_path / "models"))
    manifest = folder / "manifest.toml"
    text = manifest.read_text(encoding="utf-8").replace("trace_length = 4", "trace_length = 5")
    manifest.write_text(text, encoding="utf-8")
    assert run_verb("MCLock_action_property", "--manifest", str(manifest)) == 1
    printed = capsys.readouterr().out
    assert "trace_length: 5 expected, 4 measured" in printed
    assert "4. Release, thread t1" in printed
    assert "tlc: fail (1 fail of 1 models)" in printed


def test_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb("MCLock_assumption", "--manifest", str(MANIFEST), "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.out == "tlc: pass (1 pass of 1 models)\n"
    assert printed.err == ""


def test_pin(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb("MCLock_stuttering", "--manifest", str(MANIFEST), "--pin") == 0
    assert "trace_length = 7\n" in capsys.readouterr().out


def test_the_cfg_that_isrun_verb(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--manifest", str(MANIFEST))
    assert run_verb("--write-cfg", "MCLock_deadlock", *options) == 0
    assert capsys.readouterr().out == fixture_model("MCLock_deadlock").cfg.text
    path = tmp_path / "pass.cfg"
    assert run_verb("--write-cfg", "MCLock_pass", "--output", str(path), *options) == 0
    assert path.read_bytes() == (FIXTURES / "models" / "MCLock" / "pass.cfg").read_bytes()
    assert capsys.readouterr().out == ""


def test_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb("--list", "--manifest", str(MANIFEST)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(load_manifest(MANIFEST))
    assert lines[0].split("  ")[0] == "MCLock_pass"
    assert lines[1].split()[:5] == [
        *("MCLock_invariant", "smoke", "mutant", "invariant:", "NobodyCounts"),
    ]


def test_an_export(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A folder as tlaplus/Examples has them, whose models run as they are."""
    assert run_verb("--export", str(tmp_path), "--manifest", str(MANIFEST)) == 0
    folder = tmp_path / "specifications" / "fixtures"
    assert capsys.readouterr().out == f"{folder / 'manifest.json'}\n"
    document = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert document.keys() == {"sources", "authors", "tags", "modules"}
    models = {
        Path(model["path"]).stem: (Path(module["path"]).name, model)
        for module in document["modules"]
        for model in module["models"]
    }
    module, model = models["MCLock_pass"]
    assert (module, model["result"], model["distinctStates"]) == ("MCLock.tla", "success", 13)
    assert models["MCLock_lasso"][1]["result"] == "liveness failure"
    assert {path.name for path in folder.glob("*.tla")} == {
        Path(entry["path"]).name for entry in document["modules"]
    }
    for name in ("MCLock_pass", "MCLock_deadlock"):
        module, model = models[name]
        code = run_verb(str(folder / module), "--config", str(folder / f"{name}.cfg"), "--quiet")
        assert code == (model["result"] != "success"), name


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--write-cfg", "MCLock_*"], "takes one model"),
        (["--write-cfg", "MCLock_pas"], "near are MCLock_pass"),
        (["--write-cfg", "MCLock_pass", "MCLock_pass"], "runs nothing"),
        (["--output", "pass.cfg"], "--output needs --write-cfg"),
    ],
)
def test_a_cfg_that_is_refused(arguments: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        run_verb("--manifest", str(MANIFEST), *arguments)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run_verb("Nothing", "--manifest", str(MANIFEST))
    with pytest.raises(InputRejectedError):
        run_verb("--manifest", str(tmp_path / "manifest.toml"))
    with pytest.raises(InputRejectedError):
        run_verb("--manifest", str(MANIFEST), "--jar", str(MANIFEST))


@pytest.mark.parametrize(
    "option", ["--jobs=0", "--jobs=x", "--time-limit=0", "--time-limit=nan", "--tier=tiny"]
)
def test_options_without_sense(option: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run_verb("--manifest", str(MANIFEST), option)
    assert caught.value.code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_java_and_no_lost_verdict(
    tmp_path: Path, number: signal.Signals
) -> None:
    folder = Path(shutil.copytree(FIXTURES, tmp_path / "models"))
    models = folder / "models" / "MCLock"
    for name in ("first", "second", "third"):
        shutil.copy(models / "endless.cfg", models / f"{name}.cfg")
    text = 'schema = "wheelproof.manifest/1"\n' + "".join(
        ENDLESS.format(name=name) for name in ("first", "second", "third")
    )
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(folder / "manifest.toml")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        assert _commands_about(folder)
        process.send_signal(number)
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == 0
    assert last.count("inconclusive") == 3
    assert last.count("interrupted; ") == 3
    assert _commands_about(folder) == []


def _commands_about(folder: Path) -> list[str]:
    """Return the command lines of the Javas that read modules of `folder`."""
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, check=True)
    lines = listing.stdout.decode("utf-8", "replace").splitlines()
    return [line for line in lines if str(folder) in line and "tlc2.TLC" in line]
