"""Trying commands that nobody should give, in a folder whose files are counted before and after."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from wheelproof_lab.__main__ import main as laboratory
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    output: str
    errors: str


def _line(number: int, kind: str, call: str, value: object) -> str:
    op = {"kind": "op", "history": "h", "index": number, "process": "p", "type": kind}
    return json.dumps({**op, "f": call, "value": value})


_HEADER = {
    "schema": "wheelproof.history/1",
    "kind": "header",
    "history": "h",
    "component": "timer",
    "impl": {"name": "x", "version": "1"},
    "config": {"tick_ms": 1},
    "clock": "virtual",
}
HISTORY = "\n".join(
    (
        json.dumps(_HEADER),
        _line(0, "invoke", "add", {"task": "a", "delay_ms": 5}),
        _line(1, "ok", "add", {}),
        _line(2, "invoke", "cancel", {"task": "a"}),
        _line(3, "ok", "cancel", {"cancelled": True}),
        "",
    )
).encode()
"""A history of a timer, in which nothing is wrong."""


def snapshot(folder: Path) -> Mapping[str, bytes]:
    """Return what is in the files of a folder, links followed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def attempt(words: Iterable[str], capsys: pytest.CaptureFixture[str]) -> Ended:
    """Run a command in this process and hold it to what every command has to keep to.

    After the word `lab`, it is a command of `python -m wheelproof_lab`.
    """
    words = list(words)
    path, before = list(sys.path), set(children())
    try:
        code: object = laboratory(words[1:]) if words[:1] == ["lab"] else main(words)
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.path[:] = path
    shown = capsys.readouterr()
    assert isinstance(code, int)
    require_good_end(words, Ended(code=code, output=shown.out, errors=shown.err))
    assert set(children()) <= before, f"{words}: left a process behind"
    return Ended(code=code, output=shown.out, errors=shown.err)


def require_good_end(words: Iterable[str], ended: Ended) -> None:
    """Hold a command to a documented exit code, one sentence at most, and no traceback."""
    told = f"{' '.join(words)}: {ended}"
    assert ended.code in set(ExitCode), told
    assert "Traceback" not in ended.output + ended.errors, told
    assert "internal error" not in ended.errors, told
    assert len(ended.errors.splitlines()) <= 1, told
    if ended.code in {ExitCode.USAGE, ExitCode.INPUT_REJECTED}:
        assert ended.errors or ended.output, told


def children() -> list[str]:
    """Return the processes that this one has started and that are still there."""
    tasks = Path("/proc/self/task")
    if not (tasks / str(os.getpid()) / "children").exists():
        return []
    found: list[str] = []
    for task in tasks.iterdir():
        # A thread may end between its listing and its reading.
        with suppress(FileNotFoundError, ProcessLookupError):
            found += (task / "children").read_text().split()
    return found
