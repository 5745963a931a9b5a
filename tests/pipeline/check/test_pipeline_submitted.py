"""The wheel by `spark-submit --py-files`, with a Python of the user's for the workers.

It runs where the locale holds no letter beyond ASCII: Java does not find such a name there, and
`stream` reads each file all the same.
"""

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest

from support.checkout import ROOT
from support.pipeline.pipeline_tables import committed
from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.streamed_folder import adds_up, verdicts
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow

_VERSION = "9.9.9"
"""Of the wheel alone: what a verdict has it from was judged by the wheel's files."""

_NAMES = ("ünï.jsonl".encode(), "日本.jsonl".encode(), b"\xff.jsonl", b"\\xff.jsonl", b"ok.jsonl")

_DRIVER = """\
import sys
from wheelproof_spec.app.cli import main
sys.exit(main(sys.argv[1:]))
"""


def _wheel(path: Path) -> Path:
    """Make a wheel of the packages."""
    with ZipFile(path, "w") as wheel:
        for place in ("reference", "explore", "spec", "pipeline"):
            for package in (ROOT / place).glob("wheelproof*"):
                for file in package.rglob("*.*"):
                    if file.is_file() and "__pycache__" not in file.parts:
                        wheel.write(file, str(file.relative_to(ROOT / place)))
        known = distribution("wheelproof")
        about = f"wheelproof-{_VERSION}.dist-info"
        said = f"Metadata-Version: 2.1\nName: wheelproof\nVersion: {_VERSION}\n"
        wheel.writestr(f"{about}/METADATA", said)
        wheel.writestr(f"{about}/entry_points.txt", known.read_text("entry_points.txt") or "")
    return path


def _fleet(source: Path) -> Path:
    """Make a folder of files that Java does not see, or not by their names."""
    source.mkdir()
    lines = chance_lines(2, "spread")
    for number, name in enumerate(_NAMES):
        path = Path(os.fsdecode(os.fsencode(source) + b"/" + name))
        path.write_bytes(
            b"".join([*chance_lines(2, f"run-{number}"), *lines[number :: len(_NAMES)]])
        )
    os.mkfifo(source / "pipe")
    (source / "dead").symlink_to("nowhere")
    return source


def test_a_wheel_in_a_small_locale_judges_as_it_is_and_loses_no_name(tmp_path: Path) -> None:
    source, output, used = _fleet(tmp_path / "in"), tmp_path / "out", tmp_path / "used"
    wheel = _wheel(tmp_path / f"wheelproof-{_VERSION}-py3-none-any.whl")
    driver, python = tmp_path / "driver.py", tmp_path / "python"
    driver.write_text(_DRIVER)
    python.write_text(f'#!/bin/sh\necho "$@" >> {used}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
    pythons = {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable}
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    java = ("--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    words = ("--input", source, "--output", output, "--partitions", "1", "--available-now")
    command = ("pipeline", "stream", *words, "--close")
    done = subprocess.run(
        [submit, "--master", "local[1]", *java, "--py-files", wheel, driver, *command],
        env={**environment, **pythons, "LC_ALL": "C"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.INPUT_REJECTED, done.stderr
    judged = committed(source, output)
    adds_up(judged)
    names = ("spread", *(f"run-{number}" for number in range(len(_NAMES))))
    assert verdicts(judged) == dict.fromkeys(names, ("pass", None))
    assert {row["judge"] for row in judged.table("verdicts")} == {_VERSION}
    assert {row["path"] for row in judged.table("files")} == {
        *("ünï.jsonl", "日本.jsonl", "\\xff.jsonl", "\\\\xff.jsonl", "ok.jsonl", "pipe", "dead")
    }
    assert (judged.manifest.counts.files, judged.manifest.counts.quarantined) == (7, 2)
    assert "pyspark" in used.read_text(encoding="utf-8")
