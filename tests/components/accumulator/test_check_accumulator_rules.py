"""What the checker says of accumulators' histories that keep, or break, one rule each."""

from collections.abc import Sequence

import pytest
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
    AppendAnswer,
)

from support.history.history_scripts import (
    Lines,
    append,
    available,
    begin,
    begin_append,
    broken_rule,
    called_back,
    drain,
    end,
    of_batch,
    of_partition,
    plain,
    refuse,
    tick,
)
from wheelproof_spec.base.strict_json import MalformedError

_BATCH = 1_000
_CLAIMS = AccumulatorSettings(
    batch_size=_BATCH,
    total=2 * _BATCH,
    delivery_timeout_ms=10,
    callbacks="in_order",
    gives_back="at_once",
)
_TWO: tuple[Lines, ...] = (append("r", new_batch=True), append("s", new_batch=False))
_SENT: tuple[Lines, ...] = (*_TWO, drain(("b", ("r", "s"))))
_STORED = of_batch("respond", "b", called_back("r", 5), called_back("s", 6))
_OTHER_BATCH = append("s", new_batch=True)
_EXPIRE_BOTH = plain("expire", called_back("r", error="Expired"), called_back("s", error="Expired"))
_ACCEPTED = end("a", "append", AppendAnswer(new_batch=True))

_RIGHT: dict[str, Sequence[Lines]] = {
    "stored": (*_SENT, _STORED, available(2 * _BATCH)),
    "a full pool refuses": (
        append("r", new_batch=True),
        append("s", new_batch=True, partition="q"),
        begin_append("t", max_block_ms=5),
        tick(5),
        refuse("a", "append", "Exhausted"),
        plain("expire", called_back("r", error="Gone"), called_back("s", error="Gone")),
    ),
    "flushed": (
        *_SENT,
        begin("f", "flush"),
        _STORED,
        end("f", "flush"),
    ),
    "what comes during a flush is not waited for": (
        begin("f", "flush"),
        append("r", new_batch=True),
        end("f", "flush"),
        drain(("b", ("r",))),
        of_batch("respond", "b", called_back("r", 0)),
    ),
    "an interrupted flush": (
        *_TWO,
        begin("f", "flush"),
        refuse("f", "flush", "Interrupted"),
        drain(("b", ("r", "s"))),
        _STORED,
    ),
    "expired in time": (*_TWO, tick(10), _EXPIRE_BOTH),
    "expired in flight, its memory comes later": (
        *_SENT,
        tick(10),
        _EXPIRE_BOTH,
        available(_BATCH),
        of_batch("respond", "b"),
        available(2 * _BATCH),
    ),
    "sent again": (*_SENT, of_batch("reenqueue", "b"), drain(("b", ("r", "s"))), _STORED),
    "split": (
        *_SENT,
        of_batch("split", "b"),
        drain(("c", ("r",))),
        of_batch("respond", "c", called_back("r", 0)),
        drain(("d", ("s",))),
        of_batch("respond", "d", called_back("s", 1)),
    ),
    "muted, then not": (
        *_TWO,
        of_partition("mute"),
        drain(),
        of_partition("unmute"),
        drain(("b", ("r", "s"))),
        _STORED,
    ),
    "aborted": (
        *_SENT,
        plain("close"),
        plain("abort", called_back("r", error="Aborted"), called_back("s", error="Aborted")),
        begin_append("t"),
        refuse("a", "append", "Closed"),
        of_batch("respond", "b"),
    ),
    "called back before its append returns": (
        begin_append("r"),
        drain(("b", ("r",))),
        of_batch("respond", "b", called_back("r", 0)),
        _ACCEPTED,
        available(2 * _BATCH),
    ),
}

_WRONG: dict[str, tuple[str, Sequence[Lines]]] = {
    "called back twice": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_SENT, _STORED, called_back("r", 5)),
    ),
    "never called back": ("Accumulator.RecordCompletesExactlyOnce", _SENT),
    "never appended": ("Accumulator.RecordCompletesExactlyOnce", (called_back("r", 5),)),
    "refused and called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (begin_append("r"), refuse("a", "append", "Interrupted"), called_back("r", 5)),
    ),
    "responded, and not called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_SENT, of_batch("respond", "b", called_back("r", 5))),
    ),
    "aborted, and not called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_TWO, plain("close"), plain("abort", called_back("r", error="Aborted"))),
    ),
    "neither stored nor failed": (
        "Accumulator.AnswersWithAnOffsetOrAnError",
        (*_SENT, called_back("r")),
    ),
    "another offset": (
        "Accumulator.RecordGetsTheOutcomeOfItsBatch",
        (*_SENT, of_batch("respond", "b", called_back("r", 5), called_back("s", 7))),
    ),
    "half a batch fails": (
        "Accumulator.RecordGetsTheOutcomeOfItsBatch",
        (*_SENT, of_batch("respond", "b", called_back("r", 5), called_back("s", error="Gone"))),
    ),
    "callbacks out of order": (
        "Accumulator.CallbacksInTheOrderOfTheAppends",
        (*_SENT, of_batch("respond", "b", called_back("s", 6), called_back("r", 5))),
    ),
    "expired early": (
        "Accumulator.ExpiresWhatIsLate",
        (*_TWO, tick(9), _EXPIRE_BOTH),
    ),
    "a young batch expires": (
        "Accumulator.ExpiresWhatIsLate",
        (
            append("r", new_batch=True),
            tick(10),
            plain("expire", called_back("r", error="Expired")),
            _OTHER_BATCH,
            plain("expire", called_back("s", error="Expired")),
        ),
    ),
    "drained though muted": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (*_TWO, of_partition("mute"), drain(("b", ("r", "s")))),
    ),
    "two batches of a partition": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (append("r"), append("s"), drain(("b", ("r",)), ("c", ("s",)))),
    ),
    "drained while it is sent": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (*_SENT, drain(("b", ("r", "s")))),
    ),
    "drained with another batch": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (*_SENT, drain(("c", ("s",)))),
    ),
    "drained though it has ended": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (*_TWO, tick(10), _EXPIRE_BOTH, drain(("b", ("r", "s")))),
    ),
    "drained though refused": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (begin_append("r"), refuse("a", "append", "Interrupted"), drain(("b", ("r",)))),
    ),
    "drained for another partition": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (append("r", partition="q"), drain(("b", ("r",)))),
    ),
    "a later record first": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (append("r"), append("s"), drain(("b", ("s",)))),
    ),
    "records of a batch out of order": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (append("r"), append("s"), drain(("b", ("s", "r")))),
    ),
    "a flush that does not wait": (
        "Accumulator.FlushWaitsForWhatWasAccepted",
        (*_SENT, plain("flush", called_back("r", 5), process="f")),
    ),
    "accepted after close": (
        "Accumulator.RefusesAfterClose",
        (plain("close"), append("r", new_batch=True)),
    ),
    "refused as closed": (
        "Accumulator.AppendEndsForAReason",
        (begin_append("r"), refuse("a", "append", "Closed")),
    ),
    "exhausted with memory": (
        "Accumulator.AppendEndsForAReason",
        (append("r", new_batch=True), begin_append("s"), refuse("a", "append", "Exhausted")),
    ),
    "given up too early": (
        "Accumulator.AppendEndsForAReason",
        (
            append("r", new_batch=True),
            append("s", new_batch=True, partition="q"),
            begin_append("t", max_block_ms=5),
            tick(4),
            refuse("a", "append", "Exhausted"),
        ),
    ),
    "more batches than memory": (
        "Accumulator.MemoryIsConserved",
        (append("r", new_batch=True), _OTHER_BATCH, append("t", new_batch=True)),
    ),
    "memory leaks": ("Accumulator.MemoryIsConserved", (*_SENT, _STORED, available(_BATCH))),
    "memory of a batch that is sent is given back": (
        "Accumulator.MemoryIsConserved",
        (*_SENT, available(2 * _BATCH)),
    ),
}


@pytest.mark.parametrize("name", _RIGHT)
def test_what_keeps_the_rules_passes(name: str) -> None:
    assert broken_rule(_CLAIMS, _RIGHT[name]) is None


@pytest.mark.parametrize("name", _WRONG)
def test_what_breaks_a_rule_fails(name: str) -> None:
    rule, lines = _WRONG[name]
    assert broken_rule(_CLAIMS, lines) == rule


@pytest.mark.parametrize(
    "name",
    ["callbacks out of order", "expired early", "exhausted with memory", "memory leaks"],
)
def test_what_nobody_claims_is_not_held_against_anybody(name: str) -> None:
    bare = AccumulatorSettings(batch_size=_BATCH, total=2 * _BATCH)
    assert broken_rule(bare, _WRONG[name][1], quiet=False) is None


def test_a_record_that_is_appended_twice_is_no_history() -> None:
    with pytest.raises(MalformedError, match="appends the record 'r' again"):
        broken_rule(_CLAIMS, (append("r", new_batch=True), begin_append("r", max_block_ms=5)))
