"""One run, line by line: duplicates, gaps, conflicts, and what `check` says of the same lines."""

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support.pipeline.recorded_fleet import chance_lines, check, trace_lines
from wheelproof_spark.check.judging.meter import bucket
from wheelproof_spark.check.judging.order import MOST_MISSING, Row
from wheelproof_spark.check.judging.run import RunJudge
from wheelproof_spark.check.reading.parsing import key_of
from wheelproof_spec.app.recorded import (
    parse_line,
)
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.line_parser import (
    Rejection,
)


def _rows(lines: Iterable[bytes], file_id: int = 0) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        event = parse_line(line)
        assert not isinstance(event, Rejection)
        key = key_of(event)
        assert key is not None
        rows.append(Row(*key[2:], file_id, 0, number, line.rstrip(b"\n")))
    return rows


def _judged(rows: list[Row]) -> dict[str, object]:
    judge = RunJudge(("history", "h", -1), CheckOptions(), {})
    order = sorted(rows, key=lambda r: (r.rank, r.seq, r.thread, r.file_id, r.start, r.line))
    for row in order:
        judge.feed(row)
    return judge.finish()


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_a_run_has_the_verdict_of_check(tmp_path: Path, seed: int, *, ends: bool) -> None:
    lines = chance_lines(seed, "h") if ends else chance_lines(seed, "h")[:-1]
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    (expected,) = check(path).verdicts
    found = _judged(_rows(lines))
    assert found["verdict"] == expected.verdict.value
    assert found["good_prefix"] == expected.good_prefix
    assert found["notes"] == list(expected.notes)
    if expected.violation is None:
        assert expected.verdict is (Verdict.PASS if ends else Verdict.INCONCLUSIVE)
    if expected.violation is not None and expected.place is not None:
        assert found["rule"] == expected.violation.rule
        assert found["place_index"] == expected.place.index
        assert found["place_line"] == expected.place.line
        assert found["also_broken"] == [also.violation.rule for also in expected.also_broken]
        assert found["place_file"] == 0


@pytest.mark.parametrize("numbered", [True, False])
def test_a_trace_has_the_verdict_of_check(tmp_path: Path, *, numbered: bool) -> None:
    for spoiled in (False, True):
        lines = trace_lines("t", numbered=numbered, spoiled=spoiled)
        path = tmp_path / "trace.jsonl"
        path.write_bytes(b"".join(lines))
        (expected,) = check(path).verdicts
        found = _judged(_rows(lines))
        assert found["verdict"] == expected.verdict.value == ("fail" if spoiled else "pass")
        assert found.get("place_line") == (expected.place and expected.place.line)
        assert found["good_prefix"] == expected.good_prefix


@pytest.mark.parametrize("numbered", [True, False])
def test_a_trace_without_its_end_is_an_error(*, numbered: bool) -> None:
    lines = trace_lines("t", numbered=numbered)[:-1]
    assert _judged(_rows(lines))["problem"] == "has no end: it was cut off"


@pytest.mark.parametrize("seed", range(10))
def test_order_and_duplicates_change_nothing(seed: int) -> None:
    chance = random.Random(seed)
    rows = _rows(chance_lines(seed, "h"))
    expected = _judged(rows)
    again = [*rows, *chance.sample(rows, 3)]
    chance.shuffle(again)
    found = _judged(again)
    assert found["duplicates"] == 3
    counted = ("lines", "duplicates")
    assert {k: v for k, v in found.items() if k not in counted} == {
        k: v for k, v in expected.items() if k not in counted
    }


def test_gaps_are_named() -> None:
    rows = _rows(chance_lines(3, "h"))
    found = _judged([row for row in rows if row.rank != 1 or row.seq not in (2, 3, 5)])
    assert found["verdict"] == "error"
    assert found["problem"] == "lacks the numbers 2 to 3"
    assert found["missing"] == 3
    assert found["gaps"] == [{"first": 2, "last": 3}, {"first": 5, "last": 5}]


def test_a_violation_before_a_gap_stays_one() -> None:
    rows = _rows(chance_lines(7, "h"))
    found = _judged([row for row in rows if row.rank != 1 or row.seq < 8 or row.seq > 9])
    assert (found["verdict"], found["problem"]) == ("fail", "lacks the numbers 8 to 9")


def test_a_tail_that_is_missing_is_a_gap() -> None:
    rows = _rows(chance_lines(3, "h"))
    body = max(row.seq for row in rows if row.rank == 1)
    found = _judged([row for row in rows if row.rank != 1 or row.seq != body])
    assert found["gaps"] == [{"first": body, "last": body}]


def test_two_lines_at_one_place_are_an_error() -> None:
    rows = _rows(chance_lines(3, "h"))
    other = json.loads(rows[1].raw)
    other["process"] = "somebody else"
    stranger = Row(1, 0, "", 7, 0, 99, json.dumps(other).encode())
    found = _judged([*rows, stranger])
    expected = "has two different lines with the number 0: line 2 of file 0 and line 99 of file 7"
    assert found["problem"] == expected


def test_without_a_header_there_is_nothing_to_judge() -> None:
    found = _judged(_rows(chance_lines(3, "h"))[1:])
    assert (found["verdict"], found["problem"]) == ("error", "has no header")


def test_buckets_are_powers_of_two() -> None:
    assert [bucket(ms) for ms in (-5, 0, 0.2, 1, 1.5, 2, 3, 4, 5, 1_000)] == [
        *(0, 0, 1, 1, 2, 2, 4, 4, 8, 1_024)
    ]


class _Broken:
    """A checker with a defect of its own."""

    def __init__(self, when: str) -> None:
        self._when = when

    def feed(self, event: object, line: int) -> None:
        del event, line
        if self._when == "feed":
            raise KeyError("lost")

    def finish(self, *, cut_off: bool = False) -> RunVerdict:
        del cut_off
        raise KeyError("lost")


@pytest.mark.parametrize("when", ["feed", "finish"])
def test_a_checker_that_breaks_down_is_an_error_of_its_run_alone(
    monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def opener(options: object) -> Callable[[object], _Broken]:
        del options
        return lambda _: _Broken(when)

    monkeypatch.setattr("wheelproof_spark.check.judging.run.open_run", opener)
    found = _judged(_rows(chance_lines(3, "h")))
    assert found["verdict"] == Verdict.ERROR.value
    assert "made its checker break down" in str(found["problem"])
    assert "KeyError: 'lost'" in str(found["problem"])


def test_numbers_close_to_the_greatest_stay_within_every_sum() -> None:
    lines = chance_lines(3, "h")
    end = json.loads(lines[-1])
    lines[-1] = json.dumps(end | {"ops": 2**63 - 2}).encode() + b"\n"
    found = _judged(_rows(lines))
    assert found["missing"] == MOST_MISSING
