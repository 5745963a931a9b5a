"""The built wheel installs into an empty environment, needs nothing, and works there."""

import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.checkout import ROOT

_USE_THE_ORACLE = """
from importlib.metadata import distributions

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.components.timer.oracle import HeapTimer
from wheelproof_spec.base.resources import tla_directory

timer = HeapTimer(tick_ms=10, start_ms=0, contract=KAFKA)
timer.add("a", 29)
timer.advance_to(20)
assert timer.observe(["a"], advanced=True) is None
violation = timer.observe(["a"], advanced=True)
assert violation is not None
print(violation.rule)
print(*sorted(one.metadata["Name"] for one in distributions()))
print((tla_directory() / "manifest.toml").read_text().splitlines()[0])
"""


def _run(command: Sequence[str | Path], home: Path, directory: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=directory or home,
        env=_environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _environment(home: Path) -> Mapping[str, str]:
    return {"HOME": str(home), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    built, empty = tmp_path / "built", tmp_path / "empty"
    built.mkdir()
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built], tmp_path, ROOT)
    (wheel,) = built.iterdir()
    venv.create(empty, with_pip=False)
    python = empty / "bin" / "python"
    install = ("install", "--no-index", "--no-deps", "--no-compile", wheel)
    _run([sys.executable, "-m", "pip", "--python", python, *install], tmp_path)

    usage = _run([empty / "bin" / "wheelproof", "--help"], tmp_path)
    assert usage.startswith("usage: wheelproof")
    # Whoever has the package alone can judge a timer: docs/judge-your-implementation.md.
    conform = (empty / "bin" / "wheelproof", "conform")
    adapter = tmp_path / "adapter.py"
    adapter.write_text(_run([*conform, "--template", "python"], tmp_path), encoding="utf-8")
    driver = ("--driver", shlex.join([str(python), str(adapter)]), "--cases", "10")
    assert "PASS: timer of my-timer" in _run([*conform, *driver], tmp_path)

    rule, installed, manifest = _run([python, "-I", "-c", _USE_THE_ORACLE], tmp_path).splitlines()
    assert rule == "Timer.RunsAtMostOncePerAdd"
    assert installed == "wheelproof"
    assert manifest
