"""Machine-readable reports, written whole or not at all."""

import json
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_JUNIT_OUTCOME = {
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "skipped",
}


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` through a temporary file, so that no reader sees half a report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write `document` as indented JSON."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def result_document(result: CheckResult) -> dict[str, object]:
    """Return `result` as plain JSON values."""
    return {
        "name": result.name,
        "group": result.group,
        "verdict": result.verdict.value,
        "seconds": round(result.seconds, 3),
        "summary": result.summary,
        "details": result.details,
    }


def write_junit(path: Path, suite: str, results: Sequence[CheckResult]) -> None:
    """Write `results` as one JUnit XML test suite; an inconclusive check counts as skipped."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(results)),
        failures=str(sum(result.verdict is Verdict.FAIL for result in results)),
        errors=str(sum(result.verdict is Verdict.ERROR for result in results)),
        skipped=str(sum(result.verdict is Verdict.INCONCLUSIVE for result in results)),
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        case = ElementTree.SubElement(
            root,
            "testcase",
            classname=f"{suite}.{result.group}",
            name=result.name,
            time=f"{result.seconds:.3f}",
        )
        outcome = _JUNIT_OUTCOME.get(result.verdict)
        if outcome is not None:
            element = ElementTree.SubElement(case, outcome, message=_xml_text(result.summary))
            element.text = _xml_text(result.details)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("�", text)
