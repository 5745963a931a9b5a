"""Programs run in groups of their own, within their time, and never stay behind."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wheelproof_spec.tlc.running import process, watchdog
from wheelproof_spec.tlc.running.process import Ending, ProcessPool
from wheelproof_spec.tlc.running.watchdog import processor_seconds

ENDLESS = "import itertools\nfor n in itertools.count(): print(n, flush=True)"
LONG = 3600.0


def _python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def test_output_and_exit_code(tmp_path: Path) -> None:
    lines: list[str] = []
    script = "import os, sys; os.write(1, b'a\\xff\\nb'); sys.exit(7)"
    result = ProcessPool().run(_python(script), tmp_path, LONG, lines.extend)
    assert (result.ending, result.exit_code) == (Ending.EXITED, 7)
    assert lines == ["a\ufffd\n", "b"]


def test_a_line_without_end_arrives_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LINE_LIMIT", 10)
    lines: list[str] = []
    ProcessPool().run(_python("print('x' * 25, end='')"), tmp_path, LONG, lines.extend)
    assert lines == ["x" * 10, "x" * 10, "x" * 5]


def test_out_of_time(tmp_path: Path) -> None:
    def drain(lines: Iterator[str]) -> None:
        for _line in lines:
            pass

    result = ProcessPool().run(_python(ENDLESS), tmp_path, 0.2, drain)
    assert result.ending is Ending.OUT_OF_TIME
    assert result.exit_code < 0


@pytest.mark.slow
@pytest.mark.skipif(processor_seconds(os.getpid()) is None, reason="no /proc to look at")
@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("import threading; threading.Event().wait()", Ending.STALLED),
        ("while True: pass", Ending.OUT_OF_TIME),
    ],
)
def test_a_program_that_waits_for_ever_is_told_from_one_that_works(
    script: str, ending: Ending, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "LOOK_EVERY_S", 0.5)
    monkeypatch.setattr(watchdog, "STALLED_AFTER_S", 3.0)
    result = ProcessPool().run(_python(script), tmp_path, 8.0, list[str]().extend)
    assert result.ending is ending


def test_an_interrupt_ends_what_runs_and_what_would_start(tmp_path: Path) -> None:
    pool = ProcessPool()

    def interrupt_at_first(lines: Iterator[str]) -> None:
        next(lines)
        pool.interrupt()
        for _line in lines:
            pass

    running = pool.run(_python(ENDLESS), tmp_path, LONG, interrupt_at_first)
    assert running.ending is Ending.INTERRUPTED
    refused = pool.run(["no such program"], tmp_path, LONG, list[str]().extend)
    assert refused.ending is Ending.INTERRUPTED


def test_a_reader_that_breaks_leaves_nothing_behind(tmp_path: Path) -> None:
    numbers: list[int] = []

    def break_at_first(lines: Iterator[str]) -> None:
        numbers.append(int(next(lines)))
        raise ValueError("broken")

    pool = ProcessPool()
    script = f"import os; print(os.getpid(), flush=True)\n{ENDLESS}"
    with pytest.raises(ValueError, match="broken"):
        pool.run(_python(script), tmp_path, LONG, break_at_first)
    assert not Path(f"/proc/{numbers[0]}").exists()
