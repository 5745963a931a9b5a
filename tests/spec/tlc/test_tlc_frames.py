"""TLC's messages: nested, interrupted, flooding, and what the report makes of them."""

import pytest

from support.tlc.toolchains import frame, report_of
from wheelproof_spec.tlc.running import frames
from wheelproof_spec.tlc.running.frames import Frame, FrameReader
from wheelproof_spec.tlc.running.report import (
    ActionCoverage,
    Statistics,
    Violation,
    ViolationKind,
)


def _read(text: str) -> list[Frame]:
    return list(FrameReader().read(text.splitlines(keepends=True)))


def test_messages_and_what_stands_between_them() -> None:
    reader = FrameReader()
    text = frame(1, "one\ntwo") + "printed by the model\n" + frame(2)
    assert list(reader.read(text.splitlines(keepends=True))) == [
        Frame(code=1, severity=0, text="one\ntwo"),
        Frame(code=2, severity=0, text=""),
    ]
    assert list(reader.tail) == ["printed by the model"]


def test_a_nested_message_comes_first_and_may_start_within_a_line() -> None:
    text = (
        "@!@!@STARTMSG 1000:1 @!@!@\nan exception\n: @!@!@STARTMSG 5001:0 @!@!@\nno file\n"
        "@!@!@ENDMSG 5001 @!@!@\n@!@!@ENDMSG 1000 @!@!@\n"
    )
    assert [(found.code, found.text) for found in _read(text)] == [
        (5001, "no file"),
        (1000, "an exception\n: "),
    ]


def test_an_end_without_a_start_is_output() -> None:
    reader = FrameReader()
    assert list(reader.read(["@!@!@ENDMSG 7 @!@!@\n"])) == []
    assert list(reader.tail) == ["@!@!@ENDMSG 7 @!@!@"]


def test_a_flood_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "FRAME_LIMIT", 10)
    (found,) = _read(frame(1, "12345\n678901234567\nmore"))
    assert found.truncated
    assert len(found.text) <= 10
    reader = FrameReader()
    assert not list(reader.read(f"line {number}\n" for number in range(100_000)))
    assert len(reader.tail) == frames.TAIL_LINES


def test_numbers_with_commas() -> None:
    text = frame(2199, "8,591,694 states generated, 2,147,907 distinct states found, 5 states left")
    assert report_of(text).statistics == Statistics(
        generated=8_591_694, distinct=2_147_907, queued=5
    )


def test_only_the_last_coverage_counts() -> None:
    place = "line 9, col 1 to line 9, col 8 of module Two"
    text = (
        frame(2201)
        + frame(2772, f"<Start {place}>: 1:2")
        + frame(2201)
        + frame(2772, f"<Start {place}>: 18:1,028")
        + frame(2772, f"<Next {place} (13 66 13 90)>: 0:16")
    )
    assert report_of(text).coverage == [
        ActionCoverage(name="Start", module="Two", place=place, distinct=18, generated=1028),
        ActionCoverage(
            name="Next", module="Two", place=f"{place} (13 66 13 90)", distinct=0, generated=16
        ),
    ]


def test_a_violation_by_the_initial_state_has_a_counterexample_of_one_state() -> None:
    report = report_of(
        frame(2107, "Invariant Positive is violated by the initial state:\n/\\ n = 0\n/\\ m = 1", 1)
    )
    assert report.violations == [Violation(kind=ViolationKind.INVARIANT, name="Positive")]
    assert report.counterexample is not None
    assert [step.state for step in report.counterexample.steps] == [{"n": 0, "m": 1}]


def test_a_lasso_with_the_arguments_of_a_newer_tlc() -> None:
    head = "line 6, col 12 to line 6, col 71 of module Lasso"
    report = report_of(
        frame(2116, "Temporal properties were violated.", 1)
        + frame(2264, "The following behavior constitutes a counter-example:", 1)
        + frame(2217, "1: <Initial predicate>\nn = 0\n", 4)
        + frame(2217, f"2: <Step(t1, <<2>>) {head}>\nn = 2\n", 4)
        + frame(2122, f"1: Back to state: <Step {head}>\n", 4)
    )
    assert report.errors == []
    assert report.counterexample is not None
    assert report.counterexample.back_to == 1
    assert report.counterexample.back_action == "Step"
    assert report.counterexample.steps[1].action == "Step"
    assert report.counterexample.steps[1].arguments == "(t1, <<2>>)"


def test_an_unreadable_state_is_an_error_and_not_a_crash() -> None:
    report = report_of(frame(2217, "1: <Initial predicate>\nn = SUBSET {1}\n", 4))
    assert report.counterexample is None
    assert "unreadable" in report.errors[0]


def test_errors_of_tlc_are_kept_and_bounded() -> None:
    report = report_of("".join(frame(2229, f"error {number}", 1) for number in range(1000)))
    assert report.errors[0] == "error 0"
    assert len(report.errors) < 100
