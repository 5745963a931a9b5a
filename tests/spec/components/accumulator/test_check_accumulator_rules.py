"""What the checker says of accumulators' histories that keep, or break, one rule each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from support.history.history_scripts import (
    Lines,
    append,
    available,
    begin,
    begin_append,
    broken_rule,
    broken_rules,
    call,
    called_back,
    drain,
    end,
    flush_in_progress,
    has_incomplete,
    interrupt,
    plain,
    refuse,
)
from wheelproof_spec.base.calls import Close, Tick
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Appended,
    Drain,
    Drained,
    DrainedBatch,
    Expire,
    Flush,
    Mute,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig

_BATCH = 1_000
_CLAIMS = AccumulatorConfig(
    batch_size=_BATCH,
    total_memory=2 * _BATCH,
    delivery_timeout_ms=10,
    callbacks="in_order",
    gives_back="at_once",
)
_TWO: tuple[Lines, ...] = (append("r", new_batch=True), append("s", new_batch=False))
_SENT: tuple[Lines, ...] = (*_TWO, drain(("b", ("r", "s"))))
_STORED = plain(Respond(batch="b"), called_back("r", 5), called_back("s", 6))
_OTHER_BATCH = append("s", new_batch=True)
_EXPIRE_BOTH = plain(Expire(), called_back("r", error="Expired"), called_back("s", error="Expired"))
_AT_10, _LOOKED = plain(Tick(to_ms=10), process="clock"), plain(Expire())
_ACCEPTED = end("a", "append", Appended(new_batch_created=True))

_LINGERING = replace(_CLAIMS, linger_ms=5, topics={"q": "other"})
_NEVER_MS = 2**62
_ALL = {"p": 0, "q": 1}


def _look(
    *nodes: int,
    again_ms: int = _NEVER_MS,
    leaders: Mapping[str, int] = _ALL,
    topics: tuple[str, ...] = (),
) -> Lines:
    told = Readiness(
        ready_nodes=nodes, unknown_leader_topics=topics, next_ready_check_delay_ms=again_ms
    )
    return call("sender", Ready(leaders=leaders), told)


_QUEUED = append("r", new_batch=True)
_FULL = append("r", new_batch=True, size=_BATCH)
_AT_2, _AT_5 = (plain(Tick(to_ms=at_ms), process="clock") for at_ms in (2, 5))
_GONE = plain(Expire(), called_back("r", error="Gone"))

_LOOKS: dict[str, Sequence[Lines]] = {
    "nothing is there": (_look(), _look(again_ms=_NEVER_MS)),
    "what is left to wait": (_QUEUED, _look(again_ms=5), _AT_2, _look(again_ms=3), _GONE),
    "ready when it has lingered": (_QUEUED, _AT_5, _look(0), _GONE),
    "full before": (_FULL, _look(0), _GONE),
    "a second batch while it looked": (
        _QUEUED,
        begin("sender", "ready", Ready(leaders=_ALL)),
        append("s", new_batch=True),
        end(
            "sender",
            "ready",
            Readiness(ready_nodes=(), unknown_leader_topics=(), next_ready_check_delay_ms=5),
        ),
        plain(Expire(), called_back("r", error="Gone"), called_back("s", error="Gone")),
    ),
    "a ready node may count": (_FULL, _look(0, again_ms=5), _GONE),
    "one that may back off": (
        _QUEUED,
        drain(("b", ("r",))),
        plain(Reenqueue(batch="b")),
        _look(again_ms=1),
        _look(again_ms=99),
        _GONE,
    ),
    "muted": (_QUEUED, plain(Mute(partition="p")), _AT_5, _look(), _GONE),
    "without a leader": (
        append("r", partition="q"),
        _look(leaders={"p": 0}, topics=("other",)),
        _GONE,
    ),
    "perhaps without a leader": (
        begin_append("r"),
        _look(leaders={}, topics=("topic",)),
        _look(leaders={}),
        _ACCEPTED,
        _GONE,
    ),
    "another call of the sender": (
        _QUEUED,
        begin("other", "expire", Expire()),
        _look(1, again_ms=0),
        end("other", "expire"),
        _GONE,
    ),
}
_TELLS = "Accumulator.ReadyTellsWhenToLookAgain"
_NAMES = "Accumulator.ReadyNamesTheTopicsWithoutALeader"
_READY = "Accumulator.ReadyTellsTheTruth"
_WRONG_LOOKS: dict[str, tuple[str, Sequence[Lines]]] = {
    "at once": (_TELLS, (_QUEUED, _look(again_ms=0))),
    "rounded down": (_TELLS, (_QUEUED, _look(again_ms=4))),
    "though nothing is there": (_TELLS, (_look(again_ms=7),)),
    "ready when it has room": (_READY, (_QUEUED, _look(0))),
    "too late": (_TELLS, (_QUEUED, _look(again_ms=6))),
    "never": (_TELLS, (_QUEUED, _look())),
    "later than what is left": (_TELLS, (_QUEUED, _AT_2, _look(again_ms=4))),
    "not ready when it has lingered": (_READY, (_QUEUED, _AT_5, _look(again_ms=1))),
    "not ready when it is closed": (_READY, (_QUEUED, plain(Close()), _look(again_ms=5))),
    "a node with nothing to send": (_READY, (_QUEUED, _look(1))),
    "a node whose record has ended": (_READY, (_QUEUED, _GONE, _look(0))),
    "a wrong topic": (_NAMES, (_QUEUED, _look(leaders={}, topics=("other",)))),
    "no topic": (_NAMES, (append("r", partition="q"), _look(leaders={"p": 0}))),
    "a topic with a leader": (_NAMES, (_QUEUED, _look(again_ms=5, topics=("topic",)))),
}

_RIGHT: dict[str, Sequence[Lines]] = {
    "stored": (*_SENT, _STORED, available(2 * _BATCH)),
    "a full pool refuses": (
        append("r", new_batch=True),
        append("s", new_batch=True, partition="q"),
        begin_append("t", max_time_to_block_ms=5),
        plain(Tick(to_ms=5), process="clock"),
        refuse("a", "append", "Exhausted"),
        plain(Expire(), called_back("r", error="Gone"), called_back("s", error="Gone")),
    ),
    "flushed": (
        *_SENT,
        begin("f", "flush", Flush()),
        _STORED,
        end("f", "flush"),
    ),
    "what comes during a flush is not waited for": (
        begin("f", "flush", Flush()),
        append("r", new_batch=True),
        end("f", "flush"),
        drain(("b", ("r",))),
        plain(Respond(batch="b"), called_back("r", 0)),
    ),
    "an interrupted flush": (
        *_TWO,
        begin("f", "flush", Flush()),
        interrupt("f"),
        refuse("f", "flush", "Interrupted"),
        drain(("b", ("r", "s"))),
        _STORED,
    ),
    "expired in time": (*_TWO, _AT_10, _EXPIRE_BOTH),
    "looked for by a clock that was read before": (*_TWO, _LOOKED, _AT_10, _LOOKED, _EXPIRE_BOTH),
    "looked for twice at once": (
        *_TWO,
        _AT_10,
        _LOOKED,
        begin("other", "expire", Expire()),
        _LOOKED,
        end("other", "expire"),
        _EXPIRE_BOTH,
    ),
    "expired in flight, its memory comes later": (
        *_SENT,
        plain(Tick(to_ms=10), process="clock"),
        _EXPIRE_BOTH,
        available(_BATCH),
        plain(Respond(batch="b")),
        available(2 * _BATCH),
    ),
    "sent again": (*_SENT, plain(Reenqueue(batch="b")), drain(("b", ("r", "s"))), _STORED),
    "split": (
        *_SENT,
        plain(Split(batch="b")),
        drain(("c", ("r",))),
        plain(Respond(batch="c"), called_back("r", 0)),
        drain(("d", ("s",))),
        plain(Respond(batch="d"), called_back("s", 1)),
    ),
    "muted, then not": (
        *_TWO,
        plain(Mute(partition="p")),
        drain(),
        plain(Unmute(partition="p")),
        drain(("b", ("r", "s"))),
        _STORED,
    ),
    "aborted": (
        *_SENT,
        plain(Close()),
        plain(Abort(), called_back("r", error="Aborted"), called_back("s", error="Aborted")),
        begin_append("t"),
        refuse("a", "append", "Closed"),
        plain(Respond(batch="b")),
    ),
    "split before the append that made the batch returns": (
        begin_append("r"),
        append("s", new_batch=False, process="b"),
        drain(("b", ("r", "s"))),
        plain(Split(batch="b")),
        append("t", partition="q", new_batch=True, process="b"),
        append("u", partition="o", new_batch=True, process="b"),
        _ACCEPTED,
        drain(("c", ("r",))),
        plain(Respond(batch="c"), called_back("r", 0)),
        drain(("d", ("s",))),
        plain(Respond(batch="d"), called_back("s", 1)),
        plain(Expire(), called_back("t", error="Gone"), called_back("u", error="Gone")),
    ),
    "incomplete as long as a record is under way": (
        has_incomplete(False),
        begin_append("r"),
        has_incomplete(False),
        has_incomplete(True),
        _ACCEPTED,
        has_incomplete(True),
        drain(("b", ("r",))),
        plain(Respond(batch="b"), called_back("r", 0), has_incomplete(True), has_incomplete(False)),
        has_incomplete(False),
    ),
    "what is incomplete when the look begins may be no more": (
        *_SENT,
        has_incomplete(False, _STORED),
        has_incomplete(True, append("t"), plain(Abort(), called_back("t", error="Aborted"))),
    ),
    "in progress as long as a flush is under way": (
        flush_in_progress(False),
        begin("f", "flush", Flush()),
        flush_in_progress(True),
        flush_in_progress(False),
        end("f", "flush"),
        flush_in_progress(True, begin("f", "flush", Flush()), end("f", "flush")),
        flush_in_progress(False),
    ),
    "interrupted before it flushes": (
        *_SENT,
        interrupt("f"),
        begin("f", "flush", Flush()),
        refuse("f", "flush", "Interrupted"),
        _STORED,
    ),
    "called back before its append returns": (
        begin_append("r"),
        drain(("b", ("r",))),
        plain(Respond(batch="b"), called_back("r", 0)),
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
        (
            begin_append("r"),
            interrupt("a"),
            refuse("a", "append", "Interrupted"),
            called_back("r", 5),
        ),
    ),
    "responded, and not called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_SENT, plain(Respond(batch="b"), called_back("r", 5))),
    ),
    "aborted, and not called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_TWO, plain(Close()), plain(Abort(), called_back("r", error="Aborted"))),
    ),
    "neither stored nor failed": (
        "Accumulator.AnswersWithAnOffsetOrAnError",
        (*_SENT, called_back("r")),
    ),
    "another offset": (
        "Accumulator.RecordGetsTheOutcomeOfItsBatch",
        (*_SENT, plain(Respond(batch="b"), called_back("r", 5), called_back("s", 7))),
    ),
    "half a batch fails": (
        "Accumulator.RecordGetsTheOutcomeOfItsBatch",
        (*_SENT, plain(Respond(batch="b"), called_back("r", 5), called_back("s", error="Gone"))),
    ),
    "callbacks out of order": (
        "Accumulator.CallbacksInTheOrderOfTheAppends",
        (*_SENT, plain(Respond(batch="b"), called_back("s", 6), called_back("r", 5))),
    ),
    "expired early": (
        "Accumulator.ExpiresWhatIsLate",
        (*_TWO, plain(Tick(to_ms=9), process="clock"), _EXPIRE_BOTH),
    ),
    "left though late": ("Accumulator.ExpiresWhatIsLate", (*_TWO, _AT_10, _LOOKED, _LOOKED)),
    "left in flight though late": (
        "Accumulator.ExpiresWhatIsLate",
        (*_SENT, _AT_10, _LOOKED, _LOOKED),
    ),
    "a young batch expires": (
        "Accumulator.ExpiresWhatIsLate",
        (
            append("r", new_batch=True),
            plain(Tick(to_ms=10), process="clock"),
            plain(Expire(), called_back("r", error="Expired")),
            _OTHER_BATCH,
            plain(Expire(), called_back("s", error="Expired")),
        ),
    ),
    "drained though muted": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (*_TWO, plain(Mute(partition="p")), drain(("b", ("r", "s")))),
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
        (*_TWO, plain(Tick(to_ms=10), process="clock"), _EXPIRE_BOTH, drain(("b", ("r", "s")))),
    ),
    "drained though refused": (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        (
            begin_append("r"),
            interrupt("a"),
            refuse("a", "append", "Interrupted"),
            drain(("b", ("r",))),
        ),
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
        (*_SENT, plain(Flush(), called_back("r", 5), process="f")),
    ),
    "accepted after close": (
        "Accumulator.RefusesAfterClose",
        (plain(Close()), append("r", new_batch=True)),
    ),
    "nobody interrupted the append": (
        "Accumulator.AppendEndsForAReason",
        (begin_append("r"), refuse("a", "append", "Interrupted")),
    ),
    "interrupted once, and two appends end": (
        "Accumulator.AppendEndsForAReason",
        (
            interrupt("a"),
            begin_append("r"),
            refuse("a", "append", "Interrupted"),
            begin_append("s"),
            refuse("a", "append", "Interrupted"),
        ),
    ),
    "nobody interrupted the flush": (
        "Accumulator.FlushWaitsForWhatWasAccepted",
        (*_SENT, interrupt("a"), begin("f", "flush", Flush()), refuse("f", "flush", "Interrupted")),
    ),
    "a flush that is over counts": (
        "Accumulator.FlushEndsAndCountsNoMore",
        (
            begin("f", "flush", Flush()),
            interrupt("f"),
            refuse("f", "flush", "Interrupted"),
            flush_in_progress(True),
        ),
    ),
    "incomplete though all have been called back": (
        "Accumulator.NothingThatEndedIsLeft",
        (*_SENT, _STORED, has_incomplete(True)),
    ),
    "nothing incomplete though one is not called back": (
        "Accumulator.RecordCompletesExactlyOnce",
        (*_TWO, has_incomplete(False)),
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
            begin_append("t", max_time_to_block_ms=5),
            plain(Tick(to_ms=4), process="clock"),
            refuse("a", "append", "Exhausted"),
            plain(Abort(), called_back("r", error="Aborted"), called_back("s", error="Aborted")),
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


_BY_BOTH = ("p", "q")


def _turn(
    number: int, *inside: Lines, partition: str = "p", led: tuple[str, ...] = _BY_BOTH
) -> Lines:
    """A drain of a node that takes one batch, and its response."""
    record, batch = f"{partition}{number}", f"b{partition}{number}"
    taken = DrainedBatch(batch=batch, partition=partition, records=(record,))
    asked = Drain(node=0, partitions=led, max_size=700)
    return (
        *append(record, partition=partition),
        *call("sender", asked, Drained(batches=(taken,)), *inside),
        *plain(Respond(batch=batch), called_back(record, number)),
    )


_WAITS = append("waits", partition="q", process="b")
_TURN_OF_WAITING = call(
    "sender",
    Drain(node=0, partitions=_BY_BOTH, max_size=700),
    Drained(batches=(DrainedBatch(batch="bw", partition="q", records=("waits",)),)),
)
_RETRIED = (
    append("again", partition="q"),
    call(
        "sender",
        Drain(node=0, partitions=_BY_BOTH, max_size=700),
        Drained(batches=(DrainedBatch(batch="again", partition="q", records=("again",)),)),
    ),
    plain(Reenqueue(batch="again")),
)
_NOTHING_TAKEN = call("sender", Drain(partitions=_BY_BOTH, max_size=9), Drained(batches=()))

_FAIR: dict[str, Sequence[Lines]] = {
    "each in its turn": (_turn(1), _WAITS, _turn(2), _TURN_OF_WAITING, _turn(3), _turn(4)),
    "passed over once": (_WAITS, _turn(1)),
    "muted": (_WAITS, plain(Mute(partition="q")), _turn(1), _turn(2)),
    "about to be muted": (_WAITS, begin("m", "mute", Mute(partition="q")), _turn(1), _turn(2)),
    "muted again while it is unmuted": (
        _WAITS,
        begin("m", "unmute", Unmute(partition="q")),
        plain(Mute(partition="q")),
        end("m", "unmute"),
        _turn(1),
        _turn(2),
    ),
    "backing off": (*_RETRIED, _WAITS, _turn(1), _turn(2)),
    "appended meanwhile": (_turn(1, _WAITS), _turn(2)),
    "another drain meanwhile": (
        _WAITS,
        _turn(1),
        _turn(2, begin("other", "expire", Expire()), end("other", "expire")),
        _turn(3),
    ),
    "led by others": (_WAITS, _turn(1), _turn(2, led=("p", "q", "r")), _turn(3)),
    "nobody says of which node": (_WAITS, _turn(1, led=()), _turn(2, led=()), _turn(3, led=())),
    "expired": (
        _WAITS,
        plain(Tick(to_ms=20), process="clock"),
        plain(Expire(), called_back("waits", error="Expired")),
        _turn(1),
        _turn(2),
    ),
    "not ready": (_WAITS, *(call("sender", Drain(), Drained(batches=())),) * 3),
}
_UNFAIR: dict[str, tuple[str, Sequence[Lines]]] = {
    "passed over twice": ("DrainPassesNobodyOverForLong", (_WAITS, _turn(1), _turn(2))),
    "and once it is unmuted": (
        "DrainPassesNobodyOverForLong",
        (
            _WAITS,
            plain(Mute(partition="q")),
            _turn(1),
            plain(Unmute(partition="q")),
            _turn(2),
            _turn(3),
        ),
    ),
    "nothing is taken": ("DrainTakesTheHeadsOfTheQueues", (_WAITS, _NOTHING_TAKEN)),
}


@pytest.mark.parametrize("name", _FAIR)
def test_what_gives_everybody_a_turn_passes(name: str) -> None:
    assert broken_rules(_CLAIMS, _FAIR[name], quiet=False) == []


@pytest.mark.parametrize("name", _UNFAIR)
def test_who_is_passed_over_for_long_is_seen(name: str) -> None:
    clause, lines = _UNFAIR[name]
    assert broken_rules(_CLAIMS, lines, quiet=False) == [f"Accumulator.{clause}"]


def test_fifty_one_to_nothing_is_not_fair() -> None:
    first = tuple(_turn(number) for number in range(51))
    second = tuple(_turn(number, partition="q") for number in range(51))
    found = broken_rules(_CLAIMS, (_WAITS, *first, *second), quiet=False)
    assert found[0] == "Accumulator.DrainPassesNobodyOverForLong"


_FRESH = DrainedBatch(batch="fresh", partition="fresh", records=("fresh", "second"))
_AFTERWARDS: Sequence[Lines] = (
    append("fresh", partition="fresh", process="z"),
    append("second", partition="fresh", process="z"),
    call("z", Drain(), Drained(batches=(_FRESH,))),
    plain(Respond(batch="fresh"), called_back("fresh", 7), called_back("second", 8), process="z"),
    (*begin_append("odd", process="z"), *refuse("z", "append", "Interrupted")),
)


@pytest.mark.parametrize("name", _RIGHT)
def test_what_keeps_the_rules_passes(name: str) -> None:
    assert broken_rule(_CLAIMS, _RIGHT[name]) is None


@pytest.mark.parametrize("name", _WRONG)
def test_what_breaks_a_rule_fails(name: str) -> None:
    rule, lines = _WRONG[name]
    assert broken_rule(_CLAIMS, lines) == rule


@pytest.mark.parametrize("name", _LOOKS)
def test_a_look_at_what_is_ready_may_tell_so(name: str) -> None:
    assert broken_rule(_LINGERING, _LOOKS[name]) is None


@pytest.mark.parametrize("name", _WRONG_LOOKS)
def test_a_look_at_what_is_ready_may_not_tell_so(name: str) -> None:
    rule, lines = _WRONG_LOOKS[name]
    assert broken_rule(_LINGERING, lines, quiet=False) == rule


def test_what_follows_from_a_callback_that_is_missing_is_not_judged() -> None:
    lines = (*_SENT, plain(Respond(batch="b")), plain(Flush()), available(2 * _BATCH))
    found = broken_rules(_CLAIMS, (*lines, has_incomplete(yes=False)))
    assert found == ["Accumulator.RecordCompletesExactlyOnce"]


@pytest.mark.parametrize("name", _WRONG)
def test_what_comes_after_a_violation_is_judged_for_itself(name: str) -> None:
    clause, lines = _WRONG[name]
    found = broken_rules(_CLAIMS, (*lines, *_AFTERWARDS), quiet=name == "never called back")
    # What was closed accepts nothing any more.
    found = [one for one in found if one != "Accumulator.RefusesAfterClose" or one == clause]
    assert set(found) == {clause, "Accumulator.AppendEndsForAReason"}


@pytest.mark.parametrize(
    "name",
    [
        "callbacks out of order",
        "expired early",
        "memory leaks",
        "incomplete though all have been called back",
    ],
)
def test_what_nobody_claims_is_not_held_against_anybody(name: str) -> None:
    bare = AccumulatorConfig(batch_size=_BATCH, total_memory=2 * _BATCH)
    assert broken_rule(bare, _WRONG[name][1], quiet=False) is None


def test_a_record_that_is_appended_twice_is_no_history() -> None:
    with pytest.raises(MalformedError, match="appends the record 'r' again"):
        broken_rule(
            _CLAIMS, (append("r", new_batch=True), begin_append("r", max_time_to_block_ms=5))
        )
