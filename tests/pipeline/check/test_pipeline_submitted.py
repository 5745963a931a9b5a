"""The wheel by `spark-submit --py-files`, with a Python of the user's for the workers."""

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
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow

_VERSION = "9.9.9"
"""Of the wheel alone: what a verdict has it from was judged by the wheel's files."""

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


def test_a_wheel_is_judged_with_as_it_is(tmp_path: Path) -> None:
    source, output, used = tmp_path / "in", tmp_path / "out", tmp_path / "used"
    source.mkdir()
    lines = chance_lines(2, "spread")
    (source / "a.jsonl").write_bytes(b"".join([*chance_lines(2, "one"), *lines[::2]]))
    (source / "b.jsonl").write_bytes(b"".join(lines[1::2]))
    wheel = _wheel(tmp_path / f"wheelproof-{_VERSION}-py3-none-any.whl")
    driver, python = tmp_path / "driver.py", tmp_path / "python"
    driver.write_text(_DRIVER)
    python.write_text(f'#!/bin/sh\necho "$@" >> {used}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    java = ("--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    words = ("pipeline", "check", "--input", source, "--output", output, "--partitions", "1")
    done = subprocess.run(
        [submit, "--master", "local[1]", *java, "--py-files", wheel, driver, *words],
        env={**environment, "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.PASS, done.stderr
    rows = committed(source, output).table("verdicts")
    assert sorted((row["run"], row["judge"]) for row in rows) == [
        ("one", _VERSION),
        ("spread", _VERSION),
    ]
    assert "pyspark" in used.read_text(encoding="utf-8")
