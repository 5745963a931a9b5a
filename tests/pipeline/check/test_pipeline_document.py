"""The commands at the top of docs/pipeline.md: from a folder to charts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.checkout import ROOT
from wheelproof_spark.tables.manifest import load
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode


@pytest.mark.long
def test_five_commands_lead_to_charts(tmp_path: Path) -> None:
    text = (ROOT / "docs/pipeline.md").read_text(encoding="utf-8")
    found = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    install, *commands = found[1].splitlines()
    assert (install.startswith("pip install"), len(commands)) == (True, 4)
    programs = Path(sys.executable).parent
    paths = [str(ROOT / name) for name in ("reference", "spec", "pipeline")]
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = load(tmp_path / "judged")
    assert manifest.counts.passed == manifest.counts.runs > 0
    last = done.stdout.splitlines()[-1].split()
    assert last[1:] == ["none", str(manifest.counts.runs)]
    page = (tmp_path / "judged" / "report.html").read_text(encoding="utf-8")
    assert "how late tasks ran" in page


@pytest.mark.long
def test_the_question_of_ten_billion_events_shows_what_is_printed(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del spark
    text = (ROOT / "docs/questions/ten-billion-events.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ (wheelproof pipeline .*\n.*)$", text, re.MULTILINE)
    command, line = shown.splitlines()
    (tmp_path / "fleet").mkdir()
    for history in (ROOT / "vectors/histories").glob("*.jsonl"):
        (tmp_path / "fleet" / history.name).write_bytes(history.read_bytes())
    words = command.replace("build/", f"{tmp_path}/").split()
    assert main(words[1:]) == ExitCode.FAIL
    assert capsys.readouterr().out.splitlines()[-1] == line
