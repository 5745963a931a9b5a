"""What the checker says of accumulators that try again, mute, and tell offsets, at any length."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import (
    Lines,
    append,
    begin,
    begin_append,
    call,
    called_back,
    drain,
    end,
    judged,
    plain,
)
from support.history.variants import padded
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Appended,
    Expire,
    Mute,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.component import (
    KAFKA,
    WHEELPROOF,
    AccumulatorClause,
    AccumulatorConfig,
)

_CONFIG = AccumulatorConfig(batch_size=1_000, total_memory=8_000)
_IN_ORDER = replace(_CONFIG, callbacks="in_order")
_DRAINS, _READY = AccumulatorClause.DRAINS_THE_HEADS, AccumulatorClause.READY_TELLS_THE_TRUTH
_ORDER, _OUTCOME = AccumulatorClause.IN_ORDER, AccumulatorClause.RIGHT_OUTCOME


def _verdict(
    config: AccumulatorConfig, lines: Sequence[Lines], profile: str, *, pad: bool
) -> RunVerdict:
    flat = [line for some in lines for line in some]
    history = history_of("accumulator", config, flat, quiet=False, clock="virtual")
    return judged(padded(history) if pad else history, profile)


def _rule(verdict: RunVerdict) -> str | None:
    return None if verdict.violation is None else verdict.violation.rule


# Retries

_R = (append("r"), drain(("b1", ("r",))))
_R_AND_S = (append("r"), append("s"), drain(("b1", ("r", "s"))))
_BACK = plain(Reenqueue(batch="b1"))
_S_IN_FLIGHT = (append("s"), drain(("b2", ("s",))))
_BACK_2 = plain(Reenqueue(batch="b2"))

_RETRIED: dict[str, Sequence[Lines]] = {
    "under a new name": (
        *_R,
        _BACK,
        drain(("b2", ("r",))),
        plain(Respond(batch="b2"), called_back("r", 1)),
    ),
    "under its name": (
        *_R,
        _BACK,
        drain(("b1", ("r",))),
        plain(Respond(batch="b1"), called_back("r", 1)),
    ),
    "another batch has the name of one that has ended": (
        *_R,
        plain(Respond(batch="b1"), called_back("r", 1)),
        append("s"),
        drain(("b1", ("s",))),
        plain(Respond(batch="b1"), called_back("s", 9)),
    ),
    "before the younger one": (
        *_R,
        append("s"),
        _BACK,
        drain(("b2", ("r",))),
        drain(("b3", ("s",))),
    ),
    "the younger one is drained meanwhile": (
        *_R,
        append("s"),
        begin("other", "reenqueue", Reenqueue(batch="b1")),
        drain(("b2", ("s",))),
        end("other", "reenqueue"),
        drain(("b3", ("r",))),
    ),
    "the last to go back is the first": (
        *_R,
        *_S_IN_FLIGHT,
        _BACK,
        _BACK_2,
        drain(("b3", ("s",))),
        drain(("b4", ("r",))),
    ),
    "nobody knows which went back last": (
        *_R,
        *_S_IN_FLIGHT,
        begin("other", "reenqueue", Reenqueue(batch="b1")),
        _BACK_2,
        end("other", "reenqueue"),
        drain(("b3", ("r",))),
        drain(("b4", ("s",))),
    ),
    "the older one has expired": (
        *_R,
        append("s"),
        _BACK,
        plain(Expire(), called_back("r", error="Expired")),
        drain(("b2", ("s",))),
    ),
    "the older one expires meanwhile": (
        *_R,
        append("s"),
        _BACK,
        begin("other", "expire", Expire()),
        drain(("b2", ("s",))),
        begin("other", "callback", called_back("r", error="Expired")[0].value),
        end("other", "expire"),
    ),
    "in parts, and then the younger one": (
        *_R_AND_S,
        append("t"),
        plain(Split(batch="b1")),
        drain(("b2", ("r",))),
        drain(("b3", ("s",))),
        drain(("b4", ("t",))),
    ),
    "a part goes back again": (
        *_R_AND_S,
        plain(Split(batch="b1")),
        drain(("b2", ("r",))),
        _BACK_2,
        drain(("b3", ("r",))),
        drain(("b4", ("s",))),
    ),
    "of another partition": (
        *_R,
        append("s", partition="q"),
        _BACK,
        drain(("b2", ("s",)), partition="q"),
    ),
}
_RETRIED_WRONGLY: dict[str, Sequence[Lines]] = {
    "behind the younger one": (*_R, append("s"), _BACK, drain(("b2", ("s",)))),
    "behind the younger one, whose append overlaps the first": (
        begin_append("r", "z"),
        append("s"),
        end("z", "append", Appended()),
        drain(("b1", ("r",))),
        _BACK,
        drain(("b2", ("s",))),
    ),
    "behind the one that went back before": (
        *_R,
        *_S_IN_FLIGHT,
        _BACK_2,
        _BACK,
        drain(("b3", ("s",))),
    ),
    "without one of its records": (*_R_AND_S, _BACK, drain(("b2", ("r",)))),
    "with a record twice": (*_R, _BACK, drain(("b2", ("r", "r")))),
    "for the first time, with a record twice": (append("r"), drain(("b1", ("r", "r")))),
    "with a record more": (*_R, append("s"), _BACK, drain(("b2", ("r", "s")))),
    "its second part first": (*_R_AND_S, plain(Split(batch="b1")), drain(("b2", ("s",)))),
    "its parts behind the younger one": (
        *_R_AND_S,
        append("t"),
        plain(Split(batch="b1")),
        drain(("b2", ("t",))),
    ),
    "its second part behind the younger one": (
        *_R_AND_S,
        append("t"),
        plain(Split(batch="b1")),
        drain(("b2", ("r",))),
        drain(("b3", ("t",))),
    ),
}


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _RETRIED)
def test_a_batch_that_is_tried_again_is_the_first(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _RETRIED[name], KAFKA, pad=pad)) is None


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _RETRIED_WRONGLY)
def test_a_batch_that_is_tried_again_and_not_the_first_is_seen(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _RETRIED_WRONGLY[name], KAFKA, pad=pad)) == _DRAINS


# The order of callbacks

_EXPIRED_FIRST = plain(Expire(), called_back("s", error="Expired"))
_R_STORED = plain(Respond(batch="b1"), called_back("r", 1))
_S_STORED = plain(Respond(batch="b2"), called_back("s", 5))

_AS_KAFKA: dict[str, Sequence[Lines]] = {
    "the younger one expires in its queue": (*_R, append("s"), _EXPIRED_FIRST, _R_STORED),
    "both expire": (
        *_R,
        append("s"),
        plain(Expire(), called_back("s", error="Expired"), called_back("r", error="Expired")),
    ),
    "both are aborted": (
        append("r"),
        append("s"),
        plain(Abort(), called_back("s", error="Aborted"), called_back("r", error="Aborted")),
    ),
    "the older one is aborted": (
        *_R,
        *_S_IN_FLIGHT,
        _S_STORED,
        plain(Abort(), called_back("r", error="Aborted")),
    ),
}
_IN_NO_ORDER: dict[str, Sequence[Lines]] = {
    "a retry at the tail": (
        *_R,
        begin("other", "reenqueue", Reenqueue(batch="b1")),
        append("s"),
        drain(("b2", ("s",))),
        end("other", "reenqueue"),
        _S_STORED,
        drain(("b3", ("r",))),
        plain(Respond(batch="b3"), called_back("r", 6)),
    ),
    "a failure too late": (
        *_R,
        *_S_IN_FLIGHT,
        _S_STORED,
        plain(Respond(batch="b1"), called_back("r", error="Failed")),
    ),
    "behind one that expired": (
        append("o", partition="p"),
        *_R_AND_S[:2],
        plain(Expire(), called_back("o", error="Expired")),
        plain(Expire(), called_back("s", 2), called_back("r", 1)),
    ),
}


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _AS_KAFKA)
def test_what_expires_or_is_aborted_has_an_order_in_one_profile_alone(
    name: str, *, pad: bool
) -> None:
    lines = _AS_KAFKA[name]
    assert _rule(_verdict(_IN_ORDER, lines, KAFKA, pad=pad)) is None
    assert _rule(_verdict(_IN_ORDER, lines, WHEELPROOF, pad=pad)) == _ORDER
    assert _rule(_verdict(_CONFIG, lines, WHEELPROOF, pad=pad)) is None


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("profile", [KAFKA, WHEELPROOF])
@pytest.mark.parametrize("name", _IN_NO_ORDER)
def test_everything_else_has_an_order_in_both(name: str, profile: str, *, pad: bool) -> None:
    verdict = _verdict(_IN_ORDER, _IN_NO_ORDER[name], profile, pad=pad)
    assert _rule(verdict) == _ORDER


def test_callbacks_of_appends_that_overlap_have_the_order_of_their_batch() -> None:
    appends = (begin_append("r", "z"), append("s"), end("z", "append", Appended()))
    told = (called_back("s", 2), called_back("r", 1))
    drained = (drain(("b", ("r", "s"))), plain(Respond(batch="b"), *told))
    for profile in (KAFKA, WHEELPROOF):
        assert _rule(_verdict(_IN_ORDER, (*appends, *told), profile, pad=False)) is None
        assert _rule(_verdict(_IN_ORDER, (*appends, *drained), profile, pad=False)) == _ORDER


# Readiness and muting


def _look(*nodes: int, inside: Sequence[Lines] = ()) -> Lines:
    told = Readiness(ready_nodes=nodes, unknown_leader_topics=())
    return call("sender", Ready(leaders={"p": 3, "q": 4}), told, *inside)


_MUTE, _UNMUTE = plain(Mute(partition="p")), plain(Unmute(partition="p"))
_LOOKS: dict[str, Sequence[Lines]] = {
    "unmuted again": (append("r"), _MUTE, _UNMUTE, _look(3)),
    "unmuted meanwhile": (
        append("r"),
        _MUTE,
        _look(3, inside=[plain(Unmute(partition="p"), process="m")]),
    ),
    "muted meanwhile": (
        append("r"),
        _look(3, inside=[plain(Mute(partition="p"), process="m")]),
    ),
    "muted and unmuted at once": (
        append("r"),
        begin("m", "unmute", Unmute(partition="p")),
        _MUTE,
        end("m", "unmute"),
        _look(3),
        drain(("b", ("r",))),
    ),
    "unmuted while it is muted": (
        append("r"),
        begin("m", "mute", Mute(partition="p")),
        _UNMUTE,
        end("m", "mute"),
        drain(("b", ("r",))),
    ),
    "another one is muted": (append("r"), plain(Mute(partition="q")), _look(3)),
    "appended while one is in flight": (*_R, append("s"), _look(3)),
    "gone back": (*_R, _BACK, _look(3)),
    "in parts": (*_R_AND_S, plain(Split(batch="b1")), _look(3)),
    "about to be appended": (begin_append("r"), _look(3), end("a", "append", Appended())),
}
_WRONG_LOOKS: dict[str, Sequence[Lines]] = {
    "muted": (append("r"), _MUTE, _look(3)),
    "muted, and unmuted later": (append("r"), _MUTE, _look(3), _UNMUTE),
    "in flight": (*_R, _look(3)),
    "in flight again": (*_R, _BACK, drain(("b2", ("r",))), _look(3)),
    "expired in flight": (*_R, plain(Expire(), called_back("r", error="Expired")), _look(3)),
    "of another node": (append("r"), _look(4)),
}


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _LOOKS)
def test_a_node_may_be_ready(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _LOOKS[name], KAFKA, pad=pad)) is None


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _WRONG_LOOKS)
def test_a_node_without_anything_to_send_now_is_not_ready(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _WRONG_LOOKS[name], KAFKA, pad=pad)) == _READY


def test_an_answer_that_says_nothing_tests_nothing() -> None:
    lingering = replace(_CONFIG, linger_ms=5)
    assert not _verdict(lingering, (append("r"), _look()), KAFKA, pad=False).checked[_READY]
    assert _verdict(lingering, (append("r"), _look(3)), KAFKA, pad=False).checked[_READY] == 1


_BEHIND = end("z", "append", Appended(batch_is_full=True, new_batch_created=True))
"""The answer to an append whose batch is behind another one, which makes that one full."""


@pytest.mark.parametrize("pad", [False, True])
def test_a_batch_that_was_behind_another_may_have_room_when_that_is_gone(*, pad: bool) -> None:
    lingering = replace(_CONFIG, linger_ms=5)
    # `s` is asked for while `b1` is in flight, and joins the queue while `b1` is back.
    behind = (*_R, begin_append("s", "z"), _BACK, _BEHIND)
    alone = (drain(("b1", ("r",))), plain(Respond(batch="b1"), called_back("r", 1)))
    assert _rule(_verdict(lingering, (*behind, *alone, _look()), WHEELPROOF, pad=pad)) is None
    two = (append("r"), begin_append("s", "z"), _BEHIND, _look())
    assert _rule(_verdict(lingering, two, WHEELPROOF, pad=pad)) == _READY


# Offsets


_BOTH = (append("r"), append("s"))
_ANSWERED = (
    append("o"),
    drain(("b0", ("o",))),
    plain(Respond(batch="b0"), called_back("o", 0)),
)
_OFFSETS: dict[str, Sequence[Lines]] = {
    "of two partitions": (
        append("r"),
        append("s", partition="q"),
        called_back("r", 5),
        called_back("s", 5),
    ),
    "one after the other": (*_BOTH, called_back("r", 5), called_back("s", 6)),
    "a broker that always says the same": (
        *_R,
        *_S_IN_FLIGHT,
        _R_STORED,
        plain(Respond(batch="b2"), called_back("s", 1)),
    ),
    "nobody has recorded a response": (
        *_R,
        called_back("r", 1),
        append("s"),
        drain(("b2", ("s",))),
        called_back("s", 2),
    ),
    "told by another thread, while the response is handled": (
        *_ANSWERED,
        *_R,
        plain(Respond(batch="b1"), begin("z", "callback", called_back("r", 1)[0].value)),
    ),
    "both failed": (*_BOTH, called_back("r", error="Failed"), called_back("s", error="Failed")),
    "nobody knows what a drain has taken": (
        append("r"),
        begin("other", "drain", drain()[0].value),
        (Line("other", "info", "drain", Nothing()),),
        called_back("r", 5),
    ),
}
_WRONG_OFFSETS: dict[str, Sequence[Lines]] = {
    "of one partition": (*_BOTH, called_back("r", 5), called_back("s", 5)),
    "before its response": (*_ANSWERED, *_R, called_back("r", 1)),
    "before the response to its second attempt": (
        *_ANSWERED,
        *_R,
        _BACK,
        drain(("b2", ("r",))),
        plain(Respond(batch="b1"), called_back("r", 1)),
    ),
    "of one batch": (
        *_R_AND_S,
        plain(Respond(batch="b1"), called_back("r", 5), called_back("s", 5)),
    ),
    "of a record that was never drained": (
        *_R,
        append("s"),
        plain(Respond(batch="b1"), called_back("r", 1), called_back("s", 2)),
    ),
    "of a part that was not drained again": (
        *_R_AND_S,
        plain(Split(batch="b1")),
        drain(("b2", ("r",))),
        plain(Respond(batch="b2"), called_back("r", 1), called_back("s", 2)),
    ),
}


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _OFFSETS)
def test_a_record_may_have_an_offset(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _OFFSETS[name], KAFKA, pad=pad)) is None


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", _WRONG_OFFSETS)
def test_a_record_may_not_have_an_offset(name: str, *, pad: bool) -> None:
    assert _rule(_verdict(_CONFIG, _WRONG_OFFSETS[name], KAFKA, pad=pad)) == _OUTCOME


def test_a_note_says_whose_places_were_not_judged() -> None:
    without = _verdict(_CONFIG, _OFFSETS["one after the other"], KAFKA, pad=False)
    assert any(note.startswith("2 records were told an outcome") for note in without.notes)
    shown = _verdict(_CONFIG, _OFFSETS["a broker that always says the same"], KAFKA, pad=False)
    assert not any("told an outcome" in note for note in shown.notes)


def test_a_note_says_that_no_look_for_late_batches_was_recorded() -> None:
    config, lines = replace(_CONFIG, delivery_timeout_ms=10), _OFFSETS["one after the other"]
    unseen = _verdict(config, lines, KAFKA, pad=False)
    assert any("records that never expire were not judged" in note for note in unseen.notes)
    seen = _verdict(config, (*lines, plain(Expire())), KAFKA, pad=False)
    assert not any("never expires" in note for note in seen.notes)


def test_what_nobody_has_drained_may_have_gone_back_before_everything_else() -> None:
    lines = (
        *_R,
        append("s"),
        begin("other", "reenqueue", Reenqueue(batch="unknown")),
        end("other", "reenqueue"),
        _BACK,
        drain(),
        drain(("b2", ("s",))),
    )
    assert _rule(_verdict(_CONFIG, lines, KAFKA, pad=True)) is None
