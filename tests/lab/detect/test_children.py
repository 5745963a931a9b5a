"""Cells: each is run once, a chain ends with what is seen, and nothing a process does ends all."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from wheelproof_lab.detect.mutation import children, usage
from wheelproof_lab.detect.mutation.bring_back import replace_everywhere, rewrite
from wheelproof_lab.detect.mutation.cells import Cell, End, Found, Outcome, read_outcomes
from wheelproof_lab.detect.mutation.children import run_chains
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.errors import InputRejectedError

pytestmark = pytest.mark.slow


def _cell(engine: str) -> Cell:
    return Cell(subject="s", component="c", engine=engine, seconds=0, seed=1)


def _command(cell: Cell) -> Sequence[str]:
    """A process that ends as the engine is called, or hangs, or dies."""
    if cell.engine == "hangs":
        return ("-c", "import time\nwhile True: time.sleep(0.02); sum(range(10**5))")
    if cell.engine == "sleeps":
        return ("-c", "import threading; threading.Lock().acquire() and threading.Event().wait()")
    if cell.engine in ("loops", "proof"):
        return ("-c", "while True: pass")
    if cell.engine == "dies":
        return ("-c", "import sys; sys.exit('it died')")
    outcome = Outcome(cell=cell, found=Found(end=End(cell.engine), runs=3), milliseconds=1)
    return ("-c", f"print({format_line(outcome).decode().strip()!r})")


def _run(cells: Sequence[str], results: Path | None = None) -> list[Outcome]:
    told: list[Outcome] = []
    (found,) = run_chains(
        [[_cell(engine) for engine in cells]],
        _command,
        jobs=2,
        results=results,
        tell=lambda outcome, _: told.append(outcome),
    )
    return found


def test_a_chain_ends_with_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [outcome.found.end for outcome in _run(["clean", "dies", "absent", "found", "clean"])]
    assert ends == [End.CLEAN, End.ERROR, End.ABSENT, End.FOUND]
    assert "it died" in _run(["dies"])[0].found.story
    # What does not hang has ended by then, on a busy machine as well.
    monkeypatch.setattr(children, "LOOK_S", 6.0)
    monkeypatch.setattr(children, "TIMES_BUSY", 0)
    ends = [outcome.found.end for outcome in _run(["hangs", "clean", "hangs", "found"])]
    assert ends == [End.HANGS, End.CLEAN, End.HANGS], "given up after two"


def test_what_uses_its_limit_of_cpu_time_or_sleeps_for_good_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(children, "LOOK_S", 0.1)
    monkeypatch.setattr(children, "START_S", 1)
    monkeypatch.setattr(children, "STUCK_S", 1)
    monkeypatch.setattr(children, "TIMES_BUSY", 1_000)
    (looping,) = _run(["loops"])
    assert looping.found.end is End.FOUND
    assert "after 1 s of CPU time" in looping.found.story
    (sleeping,) = _run(["sleeps"])
    assert sleeping.found.end is End.FOUND
    assert "all its threads slept" in sleeping.found.story
    monkeypatch.setattr(children, "TIMES_BUSY", 2)
    # Its pieces of work may be that long.
    assert [outcome.found.end for outcome in _run(["proof"])] == [End.HANGS]


def test_who_cannot_be_seen_is_not_asleep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(usage, "_PROCESSES", tmp_path)
    assert usage.usage_of(os.getpid()) == usage.Usage(ticks=0, sleeps=False)


def test_whoever_is_interrupted_leaves_no_process(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hangs = f"import os, pathlib, time; pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); "
    waits = f"import os\nwhile not os.path.exists({str(pid)!r}): pass"

    def interrupt(outcome: Outcome, left: int) -> None:
        del left
        assert outcome.cell.engine == "dies"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chains(
            [[_cell("hangs")], [_cell("dies")]],
            lambda cell: ("-c", f"{hangs}time.sleep(600)" if cell.engine == "hangs" else waits),
            jobs=2,
            results=None,
            tell=interrupt,
        )
    while not (number := pid.read_text()):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)


def test_what_is_known_is_not_run_again(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    first = _run(["clean", "found"], results)
    with results.open("ab") as stream:
        stream.write(b'{"cell":')
    assert _run(["clean", "found"], results) == first
    assert results.read_bytes().endswith(b"\n"), "what was cut off is gone"
    assert read_outcomes(results) == (*first,)
    results.write_bytes(b"{}\n")
    with pytest.raises(InputRejectedError, match="jsonl:1: the line lacks"):
        read_outcomes(results)


def test_a_name_means_another_class_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = ModuleType("package_of_a_test.inside"), ModuleType("another_package")
    for module in (inside, outside):
        vars(module)["Found"] = Found
        monkeypatch.setitem(sys.modules, module.__name__, module)
    replace_everywhere({Found: Outcome}, ("package_of_a_test",))
    assert vars(inside)["Found"] is Outcome
    assert vars(outside)["Found"] is Found


def test_a_module_that_is_loaded_cannot_be_rewritten() -> None:
    with pytest.raises(RuntimeError):
        rewrite("wheelproof_spec", "")
