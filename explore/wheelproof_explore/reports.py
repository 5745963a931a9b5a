"""What `python -m wheelproof_explore` writes: JSON, JUnit XML and pages, whole or not at all."""

import json
import os
import re
from pathlib import Path

from wheelproof_explore.command import Outcome
from wheelproof_explore.verdicts import Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def json_text(outcome: Outcome, repeat: str) -> str:
    """Return the outcome as JSON: the fields are those of `wheelproof explore --json`."""
    document = {
        "schema": "wheelproof.explore/1",
        "verdict": outcome.verdict.value,
        "exit_code": outcome.exit_code.value,
        "given": dict(outcome.given),
        "repeat": repeat,
        "checks": [
            {
                "name": found.program,
                "group": "explore",
                "verdict": found.verdict().value,
                "seconds": round(found.seconds, 3),
                "summary": found.summary(),
                "details": found.details(),
            }
            for found in outcome.explorations
        ],
        "explorations": [found.document() for found in outcome.explorations],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def junit_text(outcome: Outcome) -> str:
    """Return the outcome as a JUnit XML test suite; an inconclusive program counts as skipped."""
    import xml.etree.ElementTree as ElementTree

    found = outcome.explorations
    verdicts = [exploration.verdict() for exploration in found]
    root = ElementTree.Element(
        "testsuite",
        name="wheelproof.explore",
        tests=str(len(found)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors="0",
        skipped=str(verdicts.count(Verdict.INCONCLUSIVE)),
        time=f"{sum(exploration.seconds for exploration in found):.3f}",
    )
    for exploration, verdict in zip(found, verdicts, strict=True):
        case = ElementTree.SubElement(
            root,
            "testcase",
            classname="wheelproof.explore.explore",
            name=_xml_text(exploration.program),
            time=f"{exploration.seconds:.3f}",
        )
        if verdict is not Verdict.PASS:
            kind = "failure" if verdict is Verdict.FAIL else "skipped"
            element = ElementTree.SubElement(case, kind, message=_xml_text(exploration.summary()))
            element.text = _xml_text(exploration.details())
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all: no reader sees half of it; raises OSError."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    temporary = path.with_name(f".wheelproof-{os.urandom(8).hex()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
