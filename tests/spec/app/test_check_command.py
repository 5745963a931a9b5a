"""The verb `check`: exit codes, places, every line counted once, whatever the input is."""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.agreement.small_histories import History, timer_history
from support.history.damaged_files import damaged_file, timer_file
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.history.line_parser import Rejection
from wheelproof_spec.history.reader import lines_of, read_lines

HEADER = (
    b'{"schema":"wheelproof.history/1","kind":"header","history":"h","component":"timer",'
    b'"impl":{"name":"x","version":"1"},"config":{"tick_ms":1},"clock":"virtual"}\n'
)
POOL = HEADER.replace(b'"timer"', b'"buffer_pool"').replace(
    b'{"tick_ms":1}', b'{"total_memory":10,"poolable_size":10}'
)

PURGATORY = HEADER.replace(b'"timer"', b'"purgatory"').replace(b'{"tick_ms":1}', b"{}")


def _op(index: int, kind: str, f: str, value: object, process: str = "p") -> bytes:
    op = {
        "kind": "op",
        "history": "h",
        "index": index,
        "process": process,
        "type": kind,
        "f": f,
        "value": value,
    }
    return json.dumps(op).encode() + b"\n"


def _end(ops: int, *, quiet: bool = True) -> bytes:
    line = {"kind": "end", "history": "h", "ops": ops, "quiet": quiet}
    return json.dumps(line).encode() + b"\n"


GOOD = (
    HEADER,
    _op(0, "invoke", "add", {"task": "a", "delay_ms": 5}),
    _op(1, "ok", "add", {}),
    _op(2, "invoke", "cancel", {"task": "a"}),
    _op(3, "ok", "cancel", {"cancelled": True}),
)
WHOLE = (*GOOD, _end(4))
EARLY = (*GOOD[:3], _op(2, "invoke", "run", {"task": "a"}))


def _write(folder: Path, lines: tuple[bytes, ...]) -> Path:
    path = folder / "history.jsonl"
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (WHOLE, ExitCode.PASS),
        (GOOD, ExitCode.INCONCLUSIVE),
        ((*GOOD[:4], _end(3, quiet=False)), ExitCode.INCONCLUSIVE),
        ((HEADER, _end(0)), ExitCode.INCONCLUSIVE),
        ((POOL, _op(0, "invoke", "close", {}), _op(1, "ok", "close", {}), _end(2)), 3),
        (EARLY, ExitCode.FAIL),
        (GOOD[:1], ExitCode.INCONCLUSIVE),
        ((), ExitCode.INPUT_REJECTED),
        (GOOD[1:], ExitCode.INPUT_REJECTED),
        ((*GOOD, GOOD[-1][:-1]), ExitCode.INPUT_REJECTED),
        ((*GOOD, _end(4).replace(b"}", b', "stuck": true}')), ExitCode.INPUT_REJECTED),
        ((*GOOD, b"\n"), ExitCode.INPUT_REJECTED),
        ((GOOD[0], GOOD[2]), ExitCode.INPUT_REJECTED),
        ((GOOD[0], *GOOD[2:]), ExitCode.INPUT_REJECTED),
        ((GOOD[0], GOOD[0]), ExitCode.INPUT_REJECTED),
    ],
)
def test_exit_codes(tmp_path: Path, lines: tuple[bytes, ...], code: ExitCode) -> None:
    assert main(["check", str(_write(tmp_path, lines))]) == code


def test_a_verdict_that_is_no_pass_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, junit = _write(tmp_path, GOOD[:4]), tmp_path / "report.xml"
    assert main(["check", str(path), "--junit", str(junit)]) == ExitCode.INCONCLUSIVE
    why = "(events judged: 3, calls that have not returned: 1)"
    assert why in capsys.readouterr().out
    assert why in junit.read_text()


_ASKED = {"size": 4, "max_time_to_block_ms": 9}
DEADLOCK = (
    POOL,
    _op(0, "invoke", "close", {}),
    _op(1, "ok", "close", {}),
    _op(2, "invoke", "allocate", _ASKED),
    _op(3, "ok", "allocate", {"buffer": "b", "size": 4}),
    _op(4, "invoke", "allocate", _ASKED),
    _end(5, quiet=False).replace(b"}", b', "stuck": true}'),
)
"""A pool that lends after its close, and then leaves a caller to wait for ever."""
HIDDEN = "BufferPool.CloseReleasesEveryone"


def test_one_violation_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = _write(tmp_path, DEADLOCK), tmp_path / "page.html"
    report, junit = tmp_path / "report.json", tmp_path / "report.xml"
    outputs = ["--json", str(report), "--junit", str(junit), "--html", str(page)]
    assert main(["check", str(path), *outputs]) == ExitCode.FAIL
    shown = capsys.readouterr().out
    assert f"{path}:5: {HIDDEN} is broken" in shown
    assert f"{path}:7: History.EveryCallReturns is broken" in shown
    verdict = json.loads(report.read_text())["files"][0]["verdicts"][0]
    assert verdict["place"] == {"index": 3, "line": 5}
    assert [also["place"]["line"] for also in verdict["also_broken"]] == [7]
    for written in (junit, page):
        assert "History.EveryCallReturns" in written.read_text()


@pytest.mark.parametrize(
    ("lines", "limits", "code", "said"),
    [
        (DEADLOCK, f"{HIDDEN} as in our version 1", ExitCode.FAIL, "History.EveryCallReturns"),
        ((*DEADLOCK[:5], _end(4)), f"# ours\n{HIDDEN} so", ExitCode.PASS, f"limit: {HIDDEN}"),
        (WHOLE, "Domain.WheelOfOneBucket conform knows it", ExitCode.PASS, "PASS"),
        (WHOLE, HIDDEN, ExitCode.INPUT_REJECTED, "without a reason"),
        (WHOLE, "BufferPool.CallEndsOnce driven", ExitCode.INPUT_REJECTED, "cannot be skipped"),
        # Once an operation is completed for no reason, nobody knows what the purgatory holds.
        (
            (PURGATORY, _op(0, "invoke", "on_complete", {"operation": "x"}), _end(1)),
            "Purgatory.CompletesForAReason ours does",
            ExitCode.INCONCLUSIVE,
            "from there on only crashes",
        ),
    ],
)
def test_known_limits_are_skipped(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lines: tuple[bytes, ...],
    limits: str,
    code: ExitCode,
    said: str,
) -> None:
    skip = tmp_path / "limits"
    skip.write_text(limits)
    assert main(["check", str(_write(tmp_path, lines)), "--skip", str(skip)]) == code
    shown = capsys.readouterr()
    assert said in shown.out + shown.err
    assert f"{HIDDEN} is broken" not in shown.out


def test_a_violation_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, report = _write(tmp_path, EARLY), tmp_path / "report.json"
    junit = tmp_path / "report.xml"
    assert main(["check", str(path), "--json", str(report), "--junit", str(junit)]) == 1
    shown = capsys.readouterr().out
    assert f"{path}:4: Timer.NeverBeforeItIsDue is broken" in shown
    assert "the first 2 events have an explanation" in shown
    verdict = json.loads(report.read_text())["files"][0]["verdicts"][0]
    assert verdict["place"] == {"index": 2, "line": 4}
    assert 'failures="1"' in junit.read_text()


@pytest.mark.parametrize(
    "bad_header",
    [
        HEADER.replace(b',"clock":"virtual"', b""),
        HEADER.replace(b',"history":"h"', b""),
        HEADER.replace(b'"virtual"', b'"virtual","profile":"none"'),
        b"\xef\xbb\xbf" + HEADER,
    ],
)
def test_what_follows_from_one_error_is_counted_with_it(tmp_path: Path, bad_header: bytes) -> None:
    path = _write(
        tmp_path, (bad_header, *WHOLE[1:], *(line.replace(b'"h"', b'"i"') for line in WHOLE))
    )
    result = judge_lines("h", read_lines(path))
    assert [(one.line, one.followed) for one in result.rejections] == [(1, 5)]
    assert (result.rejected, result.judged) == (6, 6)
    assert [one.verdict for one in result.verdicts] == [Verdict.PASS]


def test_a_spoiled_line_is_the_only_error_of_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, (*GOOD[:2], GOOD[2].replace(b'"ok"', b'"oh"'), *WHOLE[3:]))
    assert main(["check", str(path)]) == ExitCode.INPUT_REJECTED
    (shown, *_) = capsys.readouterr().out.splitlines()
    assert shown.endswith("not fail, info, invoke, ok; rejected for that too: 3 lines")


def test_a_violation_is_not_lost_with_the_lines_after_it() -> None:
    result = judge_lines("h", (*EARLY, _op(7, "invoke", "size", {}), _end(3)))
    assert [one.verdict for one in result.verdicts] == [Verdict.FAIL]
    assert [(one.line, one.followed) for one in result.rejections] == [(5, 1)]
    good = judge_lines("h", (*GOOD[:3], _op(7, "invoke", "size", {}), _end(3)))
    assert good.verdicts == []


def test_a_byte_order_mark_is_called_by_its_name(tmp_path: Path) -> None:
    path = _write(tmp_path, (b"\xef\xbb\xbf" + HEADER, *WHOLE[1:]))
    (rejected,) = judge_lines("h", read_lines(path)).rejections
    assert rejected.problem == "begins with a byte-order mark: save the file as UTF-8 without one"


def test_ctrl_c_shows_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(path: Path) -> Iterator[bytes | Rejection]:
        yield from (*WHOLE, *failing, HEADER)
        raise KeyboardInterrupt(path)

    failing = [line.replace(b'"h"', b'"i"') for line in EARLY]
    monkeypatch.setattr("wheelproof_spec.app.recorded.read_lines", interrupted)
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    words = ["check", "one", "two", "--json", str(report), "--html", str(page)]
    path = _write(tmp_path, WHOLE)
    words[1:3] = [str(path), "never-read"]
    assert main(words) == ExitCode.FAIL
    shown = capsys.readouterr().out
    assert ": history h: timer of " in shown
    assert ": history i: timer of " in shown
    assert shown.splitlines()[-1].startswith("FAIL: 2 runs")
    assert json.loads(report.read_text())["exit_code"] == 1
    assert page.exists()
    failing.clear()
    assert main(words) == ExitCode.INTERRUPTED
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1].startswith("INTERRUPTED: 1 runs")
    assert json.loads(report.read_text())["exit_code"] == 130


def test_the_profile_is_an_option(tmp_path: Path) -> None:
    header = HEADER.replace(b'"tick_ms":1', b'"tick_ms":10')
    lines = (
        header,
        _op(0, "invoke", "tick", {"to_ms": 3}),
        _op(1, "ok", "tick", {}),
        _op(2, "invoke", "add", {"task": "a", "delay_ms": 10}),
        _op(3, "ok", "add", {}),
        _op(4, "invoke", "tick", {"to_ms": 12}),
        _op(5, "ok", "tick", {}),
        _op(6, "invoke", "run", {"task": "a"}),
        _end(7),
    )
    path = str(_write(tmp_path, lines))
    assert main(["check", path, "--profile", "kafka"]) == ExitCode.PASS
    assert main(["check", path, "--profile", "never-early"]) == ExitCode.FAIL


def test_a_profile_that_a_component_does_not_have_leaves_its_histories_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"size": 4, "max_time_to_block_ms": 0}
    lines = (
        POOL.replace(b'"clock"', b'"profile":"longest-waiting-first","clock"'),
        _op(0, "invoke", "allocate", asked),
        _op(1, "ok", "allocate", {"buffer": "b", "size": 4}),
        _end(2),
    )
    path = str(_write(tmp_path, lines))
    assert main(["check", path, "--profile", "hashed-wheel"]) == ExitCode.PASS
    shown = capsys.readouterr().out
    assert "profile longest-waiting-first" in shown
    assert " 0 rejected" in shown


def test_a_real_clock_has_a_resolution_and_a_bound(tmp_path: Path) -> None:
    header = HEADER.replace(b"virtual", b"monotonic_ns").replace(
        b'"tick_ms":1', b'"tick_ms":1,"lateness_ms":50'
    )

    def at(line: bytes, ms: int) -> bytes:
        return line.replace(b'"kind"', b'"time_ns": %d, "kind"' % (ms * 1_000_000))

    def code(run_ms: int) -> int:
        run = at(_op(2, "invoke", "run", {"task": "a"}), run_ms)
        lines = (header, at(GOOD[1], 1_000), at(GOOD[2], 1_001), run, _end(3))
        return main(["check", str(_write(tmp_path, lines))])

    assert [code(ms) for ms in (1_002, 1_004, 1_050, 1_056, 1_090)] == [1, 0, 0, 0, 1]


def test_processes_without_a_common_order_are_counted(tmp_path: Path) -> None:
    header = HEADER.replace(b"virtual", b"process_ns").replace(
        b'"kind":"header"', b'"kind":"header","order":"process"'
    )
    run = {"task": "a"}
    before = (
        header,
        _op(0, "invoke", "run", run, "q"),
        _op(1, "invoke", "add", run | {"delay_ms": 5}),
    )
    assert main(["check", str(_write(tmp_path, (*before, _end(2))))]) == ExitCode.INPUT_REJECTED
    lines = (*before, _op(2, "ok", "add", {}), _end(3))
    assert main(["check", str(_write(tmp_path, lines))]) == ExitCode.PASS
    twice = (*before, _op(2, "ok", "add", {}), _op(3, "invoke", "run", run, "q"), _end(4))
    assert main(["check", str(_write(tmp_path, twice))]) == ExitCode.FAIL


def test_files_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "packed.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(WHOLE)))
    assert main(["check", str(path)]) == ExitCode.PASS
    path.write_bytes(gzip.compress(b"".join(WHOLE))[:-20])
    assert main(["check", str(path)]) == ExitCode.INPUT_REJECTED
    path.write_bytes(b"PK\x03\x04rest")
    assert main(["check", str(path)]) == ExitCode.INPUT_REJECTED
    assert main(["check", str(tmp_path / "missing")]) == ExitCode.INPUT_REJECTED
    assert main(["check", str(tmp_path)]) == ExitCode.INPUT_REJECTED


@pytest.mark.slow
def test_a_file_that_unpacks_without_end_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as packed:
        for _ in range(100):
            packed.write((b"x" * 1_023 + b"\n") * 1_024)
    lines = list(read_lines(path))
    assert "too much" in str(lines[-1])
    assert len(lines) < 100 * 1_024


def _histories(count: int) -> list[History]:
    return [timer_history(seed) for seed in range(count)]


@pytest.mark.slow
def test_every_line_of_a_damaged_file_is_judged_or_rejected() -> None:
    chance = random.Random(6)
    files = [timer_file(history, f"h{number}") for number, history in enumerate(_histories(60))]
    rejected = 0
    for _ in range(400):
        content = damaged_file(chance.choice(files), chance)
        result = judge_lines("damaged", lines_of(_Bytes(content)))
        assert result.lines == result.judged + result.rejected
        assert result.lines == content.count(b"\n") + (
            not content.endswith(b"\n") and bool(content)
        )
        assert all(one.problem and one.line <= result.lines for one in result.rejections)
        rejected += bool(result.rejected)
    assert rejected > 200


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self._left = content

    def readline(self, size: int, /) -> bytes:
        end = self._left.find(b"\n", 0, size)
        cut = size if end < 0 else end + 1
        line, self._left = self._left[:cut], self._left[cut:]
        return line


def test_what_is_written_is_read(tmp_path: Path) -> None:
    history = timer_history(2)
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(format_line(one) for one in (history.header, *history.ops)))
    assert main(["schema", "validate", str(path)]) == ExitCode.PASS
