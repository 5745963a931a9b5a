"""The replay of traces: good ones pass, spoiled ones fail where they were spoiled; TLC agrees."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from support.history.trace_walks import Walk, renumbered, spoiled, walk
from wheelproof_lab.trace.run import TraceChecker, TraceOrder
from wheelproof_lab.trace.search import Step
from wheelproof_lab.trace.second_opinion import compare
from wheelproof_lab.trace.tlc_module import RecordedTrace
from wheelproof_lab.trace.tlc_opinion import TlcOpinion, judge_with_tlc
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.tlc.running.launch import find_toolchain

ENOUGH = 20_000


def _judged(walked: Walk, silent: tuple[str, ...] = ()) -> RunVerdict:
    checker = TraceChecker(walked.header("w", silent), ENOUGH)
    for line, event in enumerate(walked.events, start=2):
        checker.feed(event, line)
    checker.feed(walked.end("w"))
    return checker.finish()


def _recorded(walked: Walk) -> RecordedTrace:
    order = TraceOrder(walked.header("w"))
    steps = [
        Step(event, *order.admit(event), index, 0) for index, event in enumerate(walked.events)
    ]
    return RecordedTrace(
        steps=tuple(steps), in_order=bool(order.in_order), silent=frozenset(order.silent)
    )


@pytest.mark.parametrize("design", ["reference", "kafka"])
def test_good_traces_pass(design: str) -> None:
    actions: Counter[str] = Counter()
    for seed in range(40):
        walked = walk(seed, 80, design=design)
        actions.update(event.action for event in walked.events)
        verdict = _judged(walked)
        assert verdict.verdict is Verdict.PASS, (seed, verdict)
    only = {"reference": {"AwaitDue"}, "kafka": {"PollOutside", "TimeOut"}}[design]
    assert set(actions) >= {"Offer", "Submit", "FlushEnd", "CancelUnbind", "Shutdown", *only}


def test_spoiled_traces_fail_with_a_place_and_a_reason() -> None:
    found = [_judged(spoiled(walk(seed, 60), seed)) for seed in range(60)]
    failed = [one for one in found if one.verdict is Verdict.FAIL]
    # Some changes are allowed: two steps of different threads swapped, for one.
    assert len(failed) > 40
    for one in failed:
        assert one.place is not None
        assert one.violation is not None
        assert one.place.index == one.good_prefix
        assert one.violation.rule.startswith("SystemTimer.")


def test_without_numbers_an_order_is_searched() -> None:
    for seed in range(8):
        walked = walk(seed, 40, close=False)
        unordered = replace(walked, events=renumbered(list(walked.events), in_order=False))
        by_thread = sorted(unordered.events, key=lambda event: event.thread)
        assert _judged(replace(walked, events=tuple(by_thread))).verdict is Verdict.PASS


def test_steps_that_are_never_recorded_are_found() -> None:
    silent = ("FlushLock", "AwaitDue", "Link", "UnlockRead")
    for seed in range(8):
        walked = walk(seed, 40)
        kept = [event for event in walked.events if event.action not in silent]
        verdict = _judged(replace(walked, events=renumbered(kept)), silent)
        assert verdict.verdict is Verdict.PASS, (seed, verdict)


def test_an_open_order_is_given_up_at_the_bound() -> None:
    walked = walk(3, 60, close=False)
    blind = [replace(event, t_ms=ABSENT) for event in walked.events]
    unordered = replace(walked, events=renumbered(blind, in_order=False))
    checker = TraceChecker(unordered.header("w"), 3)
    for event in unordered.events:
        checker.feed(event)
    assert checker.finish().verdict is Verdict.INCONCLUSIVE


def _agreement(walks: list[Walk]) -> Counter[Verdict]:
    opinions = judge_with_tlc(
        find_toolchain(), walks[0].config, [_recorded(walked) for walked in walks]
    )
    found: Counter[Verdict] = Counter()
    for walked, opinion in zip(walks, opinions, strict=True):
        verdict = compare(_judged(walked), opinion)
        assert verdict.verdict is not Verdict.ERROR, verdict
        found[verdict.verdict] += 1
    return found


def test_an_opinion_about_the_beginning_of_a_trace_is_compared_with_the_beginning() -> None:
    right = _judged(walk(1, 40))
    assert right.events > 5
    wrong = replace(right, verdict=Verdict.FAIL, good_prefix=right.events - 1)
    for verdict in (right, wrong):
        assert compare(verdict, TlcOpinion(good=5, events=5)).verdict is verdict.verdict
        assert compare(verdict, TlcOpinion(good=4, events=5)).verdict is Verdict.ERROR
    early = replace(wrong, good_prefix=4)
    assert compare(early, TlcOpinion(good=4, events=5)).verdict is Verdict.FAIL
    assert compare(early, TlcOpinion(good=5, events=5)).verdict is Verdict.ERROR


@pytest.mark.slow
@pytest.mark.parametrize("design", ["reference", pytest.param("kafka", marks=pytest.mark.long)])
def test_tlc_agrees_on_good_and_spoiled_traces(design: str) -> None:
    good = [walk(seed, 35, design=design) for seed in range(100)]
    found = _agreement([*good, *(spoiled(one, seed) for seed, one in enumerate(good))])
    assert found[Verdict.PASS] >= 100
    assert found[Verdict.FAIL] > 70


@pytest.mark.slow
@pytest.mark.long
def test_tlc_agrees_where_the_order_is_open() -> None:
    walks = [walk(seed, 25, close=False) for seed in range(10)]
    spoiled_too = [*walks, *(spoiled(one, seed) for seed, one in enumerate(walks))]
    unordered = [
        replace(one, events=renumbered(list(one.events), in_order=False)) for one in spoiled_too
    ]
    assert set(_agreement(unordered)) == {Verdict.PASS, Verdict.FAIL}


def _write(path: Path, walks: dict[str, Walk]) -> None:
    lines: list[object] = []
    for name, walked in walks.items():
        lines += [walked.header(name)]
        lines += [replace(event, trace=name) for event in walked.events]
        lines += [walked.end(name)]
    path.write_bytes(b"".join(format_line(one) for one in lines))


def test_the_verb_judges_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "traces.jsonl"
    _write(path, {"good": walk(1, 50)})
    assert main(["check", str(path)]) == ExitCode.PASS
    _write(path, {"good": walk(1, 50), "bad": spoiled(walk(1, 50), 0)})
    assert main(["check", str(path)]) == ExitCode.FAIL
    assert "SystemTimer." in capsys.readouterr().out
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:40]))
    assert main(["check", str(path)]) == ExitCode.INPUT_REJECTED


@pytest.mark.slow
def test_the_verb_asks_tlc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "traces.jsonl"
    _write(path, {"good": walk(1, 30), "bad": spoiled(walk(1, 30), 0)})
    assert main(["check", "--tlc", str(path)]) == ExitCode.FAIL
    assert capsys.readouterr().out.count("as the replay") == 2
