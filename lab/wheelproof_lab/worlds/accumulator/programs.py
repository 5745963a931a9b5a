"""The programs of the accumulator for the model checker."""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof.producer import RecordAccumulator
from wheelproof_explore.program import Faults, Program, Scenario
from wheelproof_lab.bugs.accumulator import BUGS, CallbackEndsBatchAccumulator
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.worlds.accumulator.bench import AccumulatorBench, SurvivedAccumulator
from wheelproof_lab.worlds.tables import (
    Pairs,
    ProgramRow,
    act,
    failing_with_faults,
    faults_of,
    pairs_of,
    programs_of,
    scenario_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorRow(ProgramRow[AccumulatorBench]):
    """Threads that use one accumulator, whose pool has memory for some `batches`.

    `moving` is whether a thread moves the clock.
    """

    batches: int
    moving: bool = False


_ROWS: Mapping[str, AccumulatorRow] = {
    "accumulator-two-appends": AccumulatorRow(
        summary="Two threads append the first records: one batch or two, and no buffer is lost.",
        batches=2,
        threads={"a": act(AccumulatorBench.append, "a"), "b": act(AccumulatorBench.append, "b")},
    ),
    "accumulator-strange-records": AccumulatorRow(
        summary=(
            "What is sent is what was appended, whatever is in a record; then two threads go on."
        ),
        batches=200,
        before=(act(AccumulatorBench.send_strange_records),),
        threads={"append": act(AccumulatorBench.append, "a"), "sender": act(AccumulatorBench.send)},
    ),
    "accumulator-append-drain": AccumulatorRow(
        summary="A record is appended to a batch that the sender is taking.",
        fault_bugs=("callback-ends-batch",),
        batches=2,
        before=(act(AccumulatorBench.append, "a"),),
        threads={"append": act(AccumulatorBench.append, "b"), "sender": act(AccumulatorBench.send)},
    ),
    "accumulator-append-abort": AccumulatorRow(
        summary="The producer is closed by force while a record is appended: refused, or aborted.",
        batches=2,
        before=(act(AccumulatorBench.append, "a"),),
        threads={"append": act(AccumulatorBench.append, "b"), "abort": act(AccumulatorBench.abort)},
        check=AccumulatorBench.check_ended,
        bugs=("KAFKA-3147",),
    ),
    "accumulator-first-append-abort": AccumulatorRow(
        summary="The same with the first record: the abort may look before there is a batch.",
        batches=1,
        threads={"append": act(AccumulatorBench.append, "a"), "abort": act(AccumulatorBench.abort)},
        check=AccumulatorBench.check_ended,
    ),
    "accumulator-two-appends-abort": AccumulatorRow(
        summary="The same with two threads that make a batch, of which there is memory for one.",
        batches=1,
        before=(act(AccumulatorBench.append, "x"), act(AccumulatorBench.send)),
        threads={
            "a": act(AccumulatorBench.append, "a"),
            "b": act(AccumulatorBench.append, "b"),
            "abort": act(AccumulatorBench.abort),
        },
        check=AccumulatorBench.check_ended,
        bugs=("KAFKA-4741",),
    ),
    "accumulator-appends-in-progress": AccumulatorRow(
        summary=(
            "An abort sleeps until one of two appends has ended, and goes round for nothing else."
        ),
        batches=1,
        spurious_wakeups=1,
        before=(act(AccumulatorBench.begin_append), act(AccumulatorBench.begin_append)),
        threads={
            "a": act(AccumulatorBench.end_append),
            "b": act(AccumulatorBench.end_append),
            "abort": act(AccumulatorBench.await_an_append, 2),
        },
    ),
    "accumulator-append-in-progress-for-ever": AccumulatorRow(
        summary="The other append has no end: two aborts go round when the one has ended.",
        batches=1,
        before=(act(AccumulatorBench.begin_append), act(AccumulatorBench.begin_append)),
        threads={
            "append": act(AccumulatorBench.end_append),
            "abort": act(AccumulatorBench.await_an_append, 2, 0),
            "another": act(AccumulatorBench.await_an_append, 2, 0),
        },
    ),
    "accumulator-abort-without-close": AccumulatorRow(
        summary="Everything is aborted while two threads want the memory of one batch for records.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        threads={
            "append": act(AccumulatorBench.append, "c"),
            "abort": act(AccumulatorBench.abort_without_close),
        },
    ),
    "accumulator-two-appends-abort-without-close": AccumulatorRow(
        summary=(
            "One of two threads waits for memory that the other one's batch has until it is "
            "aborted."
        ),
        batches=1,
        threads={
            "a": act(AccumulatorBench.append, "a"),
            "b": act(AccumulatorBench.append, "b"),
            "abort": (
                act(AccumulatorBench.abort_without_close),
                act(AccumulatorBench.close),
            ),
        },
    ),
    "accumulator-two-partitions-abort": AccumulatorRow(
        summary=(
            "Two threads append to two partitions during a forced close: no record is left behind."
        ),
        batches=2,
        threads={
            "a": act(AccumulatorBench.append, "a", 0),
            "b": act(AccumulatorBench.append, "b", 1),
            "abort": act(AccumulatorBench.abort),
        },
        check=AccumulatorBench.check_ended,
    ),
    "accumulator-blocked-append": AccumulatorRow(
        summary="A thread waits for the memory of a batch that is being sent.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        threads={"append": act(AccumulatorBench.append, "c"), "sender": act(AccumulatorBench.send)},
    ),
    "accumulator-blocked-append-close": AccumulatorRow(
        summary="A thread waits for memory while the accumulator is closed: it is refused.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        threads={"append": act(AccumulatorBench.append, "c"), "close": act(AccumulatorBench.close)},
    ),
    "accumulator-append-close-send": AccumulatorRow(
        summary=(
            "The sender closes the accumulator and sends what is left while a record is appended: "
            "refused, or sent."
        ),
        batches=1,
        threads={
            "append": act(AccumulatorBench.append, "a"),
            "sender": act(AccumulatorBench.close_and_send),
        },
        check=AccumulatorBench.check_ended,
        bugs=("closed-unseen",),
    ),
    "accumulator-flush-send": AccumulatorRow(
        summary=(
            "A flush waits for a batch that the sender lets be stored, while another one begins."
        ),
        batches=2,
        before=(act(AccumulatorBench.append, "a"),),
        idle={"appender": act(AccumulatorBench.append, "b")},
        threads={
            "flush": act(AccumulatorBench.flush, "a"),
            "sender": act(AccumulatorBench.send_around, "appender"),
        },
    ),
    "accumulator-flush-split": AccumulatorRow(
        summary=(
            "A flush waits for a batch that the broker finds too large: for its records, not "
            "for it."
        ),
        batches=1,
        before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        threads={
            "flush": act(AccumulatorBench.flush, "a", "b"),
            "sender": act(AccumulatorBench.split_and_send),
        },
        bugs=("KAFKA-9312", "KAFKA-8202"),
    ),
    "accumulator-flush-abort": AccumulatorRow(
        summary="A flush waits while the producer is closed by force.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={"flush": act(AccumulatorBench.flush, "a"), "abort": act(AccumulatorBench.abort)},
        check=AccumulatorBench.check_ended,
    ),
    "accumulator-interrupted-flush": AccumulatorRow(
        summary="A flush is interrupted, or is over before that.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        idle={"flusher": act(AccumulatorBench.flush_or_be_interrupted, "a")},
        threads={
            "interrupter": act(AccumulatorBench.interrupt, "flusher"),
            "sender": act(AccumulatorBench.send),
        },
        bugs=("KAFKA-3655",),
    ),
    "accumulator-append-expiry": AccumulatorRow(
        summary=(
            "A batch expires while a request reads its memory, and another record wants memory."
        ),
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "append": act(AccumulatorBench.append, "b"),
            "sender": act(AccumulatorBench.expire_in_flight),
        },
        bugs=("KAFKA-19012",),
    ),
    "accumulator-expire-behind-a-retry": AccumulatorRow(
        summary=(
            "A batch expires behind a younger one that was sent again, while a record is appended."
        ),
        moving=True,
        batches=3,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "append": act(AccumulatorBench.append, "b"),
            "sender": act(AccumulatorBench.expire_behind_a_retry, "queued"),
        },
        bugs=("late-behind-a-retry",),
    ),
    "accumulator-expire-in-flight-behind-a-retry": AccumulatorRow(
        summary="The same where both are in flight.",
        moving=True,
        batches=3,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "append": act(AccumulatorBench.append, "b"),
            "sender": act(AccumulatorBench.expire_behind_a_retry, "in flight"),
        },
        bugs=("late-behind-a-retry",),
    ),
    "accumulator-wait-send": AccumulatorRow(
        summary="A thread waits for the outcome of its record, which the sender lets be stored.",
        batches=2,
        before=(act(AccumulatorBench.append, "a"),),
        threads={"wait": act(AccumulatorBench.wait_for, "a"), "sender": act(AccumulatorBench.send)},
    ),
    "accumulator-timed-wait": AccumulatorRow(
        summary=(
            "A thread waits for an outcome with a timeout: it is woken without one, and waits on."
        ),
        batches=2,
        spurious_wakeups=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "wait": act(AccumulatorBench.wait_for, "a", 5),
            "sender": act(AccumulatorBench.send),
        },
    ),
    "accumulator-wait-split": AccumulatorRow(
        summary=(
            "Two threads wait for records of a batch that is split: each gets its own part's "
            "outcome."
        ),
        batches=1,
        before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        threads={
            "wait": act(AccumulatorBench.wait_for, "a"),
            "wait too": act(AccumulatorBench.wait_for, "b"),
            "sender": act(AccumulatorBench.split_and_send),
        },
    ),
    "accumulator-interrupted-wait": AccumulatorRow(
        summary="Whoever waits for an outcome is interrupted, or has it before that.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        idle={"waiter": act(AccumulatorBench.wait_or_be_interrupted, "a")},
        threads={
            "interrupter": act(AccumulatorBench.interrupt, "waiter"),
            "sender": act(AccumulatorBench.send),
        },
    ),
    "accumulator-two-flushes": AccumulatorRow(
        summary="Two threads flush while the sender works: both wait for the same batch.",
        batches=2,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "flush": act(AccumulatorBench.flush, "a"),
            "flush too": act(AccumulatorBench.flush, "a"),
            "sender": act(AccumulatorBench.send),
        },
    ),
    "accumulator-flush-again": AccumulatorRow(
        summary="A flush waits for a batch that is sent a second time.",
        bugs=("retried-in-flight",),
        moving=True,
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "flush": act(AccumulatorBench.flush, "a"),
            "sender": (
                act(AccumulatorBench.send_again),
                act(AccumulatorBench.send_later),
            ),
        },
    ),
    "accumulator-flush-fail": AccumulatorRow(
        summary="A flush waits for a batch that fails.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={"flush": act(AccumulatorBench.flush, "a"), "sender": act(AccumulatorBench.fail)},
    ),
    "accumulator-flush-in-order": AccumulatorRow(
        summary="A flush waits for a batch whose partition is muted until it is stored.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "flush": act(AccumulatorBench.flush, "a"),
            "sender": act(AccumulatorBench.send_in_order),
        },
    ),
    "accumulator-flush-expiry": AccumulatorRow(
        summary="A flush waits for a batch that is never sent: its time is over.",
        batches=1,
        before=(act(AccumulatorBench.append, "a"),),
        threads={
            "flush": act(AccumulatorBench.flush, "a"),
            "sender": act(AccumulatorBench.expire_queued),
        },
    ),
}

# The public methods of the accumulator against each other: `each` is what any thread may do,
# `alone` what its one sender does, as in Kafka.
_PAIRS: Mapping[str, Pairs[AccumulatorRow, AccumulatorBench]] = {
    "accumulator": Pairs(
        row=AccumulatorRow(
            summary="A record waits to be sent",
            batches=2,
            before=(act(AccumulatorBench.append, "a"),),
        ),
        each={
            "append": act(AccumulatorBench.append, "b"),
            "close": act(AccumulatorBench.close),
            "begin-flush": act(AccumulatorBench.begin_flush),
            "look": act(AccumulatorBench.look, "a"),
            "misuse": act(AccumulatorBench.misuse),
        },
        again={"append": act(AccumulatorBench.append, "c")},
        alone={
            "send": act(AccumulatorBench.send),
            "send-again": act(AccumulatorBench.send_again),
            "fail": act(AccumulatorBench.fail),
            "send-in-order": act(AccumulatorBench.send_in_order),
            "expire": act(AccumulatorBench.expire_queued),
            "abort": act(AccumulatorBench.abort_without_close),
            "flush": act(AccumulatorBench.flush_and_close),
        },
    ),
    "full-accumulator": Pairs(
        row=AccumulatorRow(
            summary="A batch of two records waits to be sent, and is too large for the broker",
            batches=4,
            before=(act(AccumulatorBench.append, "a"), act(AccumulatorBench.append, "b")),
        ),
        each={
            "append": act(AccumulatorBench.append, "c"),
            "close": act(AccumulatorBench.close),
            "begin-flush": act(AccumulatorBench.begin_flush),
            "look": act(AccumulatorBench.look, "a", "b"),
        },
        again={"append": act(AccumulatorBench.append, "d")},
        alone={"split": act(AccumulatorBench.split_and_send)},
    ),
}


def _build(row: AccumulatorRow, accumulator_class: type[RecordAccumulator]) -> Scenario:
    return scenario_of(row, AccumulatorBench(accumulator_class, row.batches, moving=row.moving))


_SOUND: type[RecordAccumulator] = RecordAccumulator

PROGRAMS, _FAILING = programs_of(
    _ROWS, _build, _SOUND, [(bug, bug.accumulator_class) for bug in BUGS]
)
PAIRS = pairs_of(_PAIRS, _build, _SOUND)


def _build_with_faults(row: AccumulatorRow, accumulator_class: type[RecordAccumulator]) -> Scenario:
    faults = Faults()
    bench = AccumulatorBench(accumulator_class, row.batches, moving=row.moving, faults=faults)
    return scenario_of(row, bench)


class SurvivedCallbackEndsBatch(SurvivedAccumulator, CallbackEndsBatchAccumulator):
    """An accumulator that has the defect, and callers who go on."""


FAILING = (
    *_FAILING,
    *failing_with_faults(
        _ROWS,
        _build_with_faults,
        [(find_bug(BUGS, "callback-ends-batch"), SurvivedCallbackEndsBatch)],
    ),
)


def faults_with(accumulator_class: type[SurvivedAccumulator]) -> tuple[Program, ...]:
    """Return the programs and the pairs with callbacks and an allocator that raise now and then."""
    return faults_of(_ROWS, _PAIRS, _build_with_faults, accumulator_class)
