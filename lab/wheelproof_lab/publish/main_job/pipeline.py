"""The demo of the pipeline, run as a separate program: this module does not import Spark."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from wheelproof_lab.publish.main_job.sections import Section
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict

TITLE = "Pipeline: recorded runs, judged on Apache Spark"
_EDGE = "oracle and implementations"
_LAST_LINES = 5
_PROGRAM = (sys.executable, "-m", "wheelproof_lab", "demo")
_MISSING = str(MissingToolError("", "")).partition(";")[0]
"""The beginning of the message that a tool is missing on this machine."""

_Report = Callable[[str], None]


def pipeline_section(
    folder: Path, seed: int, runs: int, report: _Report, program: Sequence[str] = _PROGRAM
) -> Section:
    """Run the demo into `folder`: about `runs` runs of the reference, of Kafka, of a known bug.

    If PySpark or a full Java is missing, `note` has the reason; in CI that is an error.
    """
    report(f"recording about {runs:,} runs and judging them on Spark")
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "demo.json"
        options = {"--output": folder, "--seed": seed, "--runs": runs, "--json": result}
        words = [str(word) for option in options.items() for word in option]
        code, printed = _run([*program, *words], report)
        if code in (ExitCode.PASS, ExitCode.FAIL) and result.is_file():
            return _judged(json.loads(result.read_text(encoding="utf-8")))
    last_lines = printed.strip().splitlines()[-_LAST_LINES:]
    why = last_lines[-1] if last_lines else f"it ended with exit code {code}"
    missing = code == ExitCode.USAGE and _MISSING in why
    if missing and os.environ.get("CI") != "true":
        report(f"the pipeline is not run: {why}")
        return Section(title=TITLE, edge=_EDGE, subject="", results=(), note=why)
    report(f"the demo of the pipeline ended with exit code {code}: {why}")
    trouble = CheckResult(
        name="demo of the pipeline",
        group="pipeline",
        verdict=Verdict.ERROR,
        summary=f"the program ended with exit code {code}: {why}",
        details="\n".join(last_lines),
    )
    return Section(title=TITLE, edge=_EDGE, subject="", results=(trouble,))


def _judged(document: dict[str, object]) -> Section:
    results = cast("list[dict[str, object]]", document["results"])
    versions = cast("dict[str, str]", document["versions"])
    left_out = f"{document['left_out']}. " if document["left_out"] else ""
    return Section(
        title=TITLE,
        edge=_EDGE,
        subject=f"PySpark {versions['pyspark']}, seed {document['seed']}",
        results=tuple(_result(one) for one in results),
        note=f"{left_out}A known bug passes when each of its runs fails: those failures are "
        "expected, and the page of the pipeline shows them.",
        page="pipeline/report.html",
    )


def _result(document: dict[str, object]) -> CheckResult:
    return CheckResult(
        name=str(document["name"]),
        group=str(document["group"]),
        verdict=Verdict(str(document["verdict"])),
        seconds=cast(float, document["seconds"]),
        summary=str(document["summary"]),
        details=str(document["details"]),
    )


def _run(words: Sequence[str], report: _Report) -> tuple[int, str]:
    """Run a program and report its lines; return its exit code and its standard error."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                report(line.rstrip())
            code = process.wait()
        except KeyboardInterrupt:
            # On SIGINT the program ends the processes that it has started.
            process.send_signal(signal.SIGINT)
            raise
        errors.seek(0)
        return code, errors.read()
