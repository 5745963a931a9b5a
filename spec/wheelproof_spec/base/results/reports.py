"""Machine-readable reports, and writing of output files: whole or not at all."""

import json
import os
import re
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from wheelproof_spec.base.errors import UnwritableError
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_JUNIT_OUTCOME = {
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "skipped",
}


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """Open a stream that replaces the file `path` if the block ends well: no reader sees half.

    Missing folders are made. The file gets the mode of the file that it replaces, or that of any
    new file. A symbolic link stays, and its target is replaced. A device or a pipe is written to
    directly. Raises UnwritableError for any error of the system.
    """
    try:
        known = path.stat() if path.exists() else None
        if known is not None and not stat.S_ISREG(known.st_mode):
            with path.open("wb") as stream:
                yield stream
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if known is not None and not os.access(target, os.W_OK):
            raise PermissionError(f"{target} is read-only")
        temporary = target.with_name(f".wheelproof-{os.urandom(8).hex()}.part")
        try:
            with temporary.open("xb") as stream:
                if known is not None:
                    temporary.chmod(stat.S_IMODE(known.st_mode))
                yield stream
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnwritableError(str(path), error.strerror or str(error)) from error


def make_folder(path: Path) -> None:
    """Make a folder for outputs, if it is not there; raises UnwritableError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableError(str(path), error.strerror or str(error)) from error


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all; raises UnwritableError.

    Half a surrogate pair, which no file name or message should have, is written as its escape.
    """
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def json_text(document: Mapping[str, object]) -> str:
    """Return `document` as indented JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write `document` as indented JSON; raises UnwritableError."""
    write_text(path, json_text(document))


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


def junit_text(suite: str, results: Sequence[CheckResult]) -> str:
    """Return `results` as one JUnit XML test suite; an inconclusive check counts as skipped."""
    import xml.etree.ElementTree as ElementTree

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
            classname=_xml_text(f"{suite}.{result.group}"),
            name=_xml_text(result.name),
            time=f"{result.seconds:.3f}",
        )
        outcome = _JUNIT_OUTCOME.get(result.verdict)
        if outcome is not None:
            element = ElementTree.SubElement(case, outcome, message=_xml_text(result.summary))
            element.text = _xml_text(result.details)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("�", text)
