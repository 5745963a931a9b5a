"""What the checker says of pools' histories that keep, or break, one rule each."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import (
    Lines,
    ask,
    available,
    begin,
    broken_rule,
    broken_rules,
    call,
    end,
    give_back,
    interrupt,
    judged,
    lend,
    queued,
    refuse,
    refuse_buffer,
)
from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    LONGEST_WAITING_FIRST,
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
)

_CONFIG = PoolConfig(total_memory=10, poolable_size=4)
_CLOSE = call("c", Close())
_BEGIN_RETURN = begin("b", "deallocate", Deallocate(buffer="x"))
_END_RETURN = end("b", "deallocate")
_LOST = (Line("a", "info", "allocate", Nothing()),)

_RIGHT: dict[str, Sequence[Lines]] = {
    "lent, given back, lent again": (lend("x", 4), give_back("x"), lend("x", 4), available(6)),
    "lent while its return is under way": (
        lend("x", 9),
        _BEGIN_RETURN,
        lend("x", 9),
        _END_RETURN,
    ),
    "taken back, and nobody has written who got it": (
        ask(4),
        (give_back("x", process="b")),
        lend("y", 4, process="c"),
    ),
    "the look overlaps a return": (lend("x", 4), available(6, give_back("x")), available(10)),
    "who is about to ask may wait already": (lend("x", 9), ask(4), queued(1), queued(0)),
    "who waited when the look began counts": (
        lend("y", 9),
        ask(4),
        queued(
            1,
            give_back("y", process="b"),
            end("a", "allocate", Allocated(buffer="x", size=4)),
        ),
        queued(0),
    ),
    "nobody knows whether it still waits": (lend("x", 9), ask(4), _LOST, queued(1), queued(0)),
    "interrupted while it waits": (
        ask(4),
        interrupt("a"),
        refuse("a", "allocate", "Interrupted"),
    ),
    "interrupted before it asks": (interrupt("a"), refuse_buffer(4, "Interrupted")),
    "interrupted, and served all the same": (
        ask(4),
        interrupt("a"),
        *([end("a", "allocate", Allocated(buffer="x", size=4))]),
    ),
    "exhausted, since all is lent": (lend("x", 9), refuse_buffer(2, "Exhausted")),
    "exhausted behind somebody who is served": (
        refuse_buffer(2, "Exhausted", lend("x", 9, process="b")),
    ),
    "exhausted, since a return may come late": (
        lend("x", 9),
        _BEGIN_RETURN,
        refuse_buffer(2, "Exhausted"),
        _END_RETURN,
    ),
    "exhausted behind somebody who is interrupted": (
        lend("y", 9),
        refuse_buffer(
            1,
            "Exhausted",
            interrupt("b"),
            refuse_buffer(2, "Interrupted", process="b"),
        ),
    ),
    "closed while it waits": (
        ask(4),
        begin("c", "close", Close()),
        refuse("a", "allocate", "Closed"),
        end("c", "close"),
    ),
    "served while the pool is being closed": (
        begin("c", "close", Close()),
        lend("x", 4),
        end("c", "close"),
    ),
    "asked before the close, and served after it": (
        ask(4),
        _CLOSE,
        end("a", "allocate", Allocated(buffer="x", size=4)),
    ),
    "more than all is refused": (refuse_buffer(11, "IllegalArgument"),),
    "what is not lent is refused": (
        begin("a", "deallocate", Deallocate(buffer="x")),
        refuse("a", "deallocate", "IllegalArgument"),
    ),
    "given back by two, and one is refused": (
        lend("x", 4),
        _BEGIN_RETURN,
        begin("c", "deallocate", Deallocate(buffer="x")),
        refuse("c", "deallocate", "IllegalArgument"),
        _END_RETURN,
    ),
}

_WRONG: dict[str, tuple[PoolClause, Sequence[Lines]]] = {
    "more is lent than there is": (
        PoolClause.NO_MORE_THAN_TOTAL,
        (lend("x", 6), lend("y", 6)),
    ),
    "a buffer is lent twice": (PoolClause.LENDS_ONCE, (lend("x", 4), lend("x", 4))),
    "another size": (
        PoolClause.LENDS_WHAT_WAS_ASKED,
        (call("a", Allocate(size=4, max_time_to_block_ms=5), Allocated(buffer="x", size=3)),),
    ),
    "given back with another size": (
        PoolClause.TAKES_BACK_WHAT_IT_LENT,
        (lend("x", 4), call("a", Deallocate(buffer="x", size=3))),
    ),
    "its return is refused": (
        PoolClause.TAKES_BACK_WHAT_IT_LENT,
        (lend("x", 4), _BEGIN_RETURN, refuse("b", "deallocate", "IllegalArgument")),
    ),
    "never lent, and taken back": (PoolClause.TAKES_BACK_ONLY_LOANS, (give_back("x"),)),
    "taken back while somebody asks, who gets another one": (
        PoolClause.TAKES_BACK_ONLY_LOANS,
        (lend("y", 4, give_back("x", process="b")),),
    ),
    "taken back while somebody asks who gets nothing": (
        PoolClause.TAKES_BACK_ONLY_LOANS,
        (interrupt("a"), refuse_buffer(4, "Interrupted", give_back("x", process="b"))),
    ),
    "taken back twice": (
        PoolClause.TAKES_BACK_ONLY_LOANS,
        (lend("x", 4), give_back("x"), give_back("x")),
    ),
    "taken back from two at once": (
        PoolClause.TAKES_BACK_ONLY_LOANS,
        (lend("x", 4), _BEGIN_RETURN, give_back("x"), _END_RETURN),
    ),
    "memory leaks": (
        PoolClause.MEMORY_IS_CONSERVED,
        (lend("x", 4), give_back("x"), available(9)),
    ),
    "memory appears": (PoolClause.MEMORY_IS_CONSERVED, (lend("x", 4), available(7))),
    "somebody is left in the queue": (
        PoolClause.WAITERS_ARE_LIVE,
        (lend("x", 9), refuse_buffer(2, "Exhausted"), queued(1)),
    ),
    "more wait than have asked": (PoolClause.WAITERS_ARE_LIVE, (ask(4), queued(2))),
    "nobody interrupted it": (
        PoolClause.ENDS_FOR_A_REASON,
        (refuse_buffer(4, "Interrupted"),),
    ),
    "somebody else was interrupted": (
        PoolClause.ENDS_FOR_A_REASON,
        (ask(4), interrupt("b"), refuse("a", "allocate", "Interrupted")),
    ),
    "interrupted once, and two calls end": (
        PoolClause.ENDS_FOR_A_REASON,
        (interrupt("a"), refuse_buffer(4, "Interrupted"), refuse_buffer(4, "Interrupted")),
    ),
    "nobody closed it": (PoolClause.ENDS_FOR_A_REASON, (refuse_buffer(4, "Closed"),)),
    "exhausted with memory": (
        PoolClause.NO_LOST_WAKE_UP,
        (lend("x", 6), refuse_buffer(4, "Exhausted")),
    ),
    "two behind each other, and nobody is served": (
        PoolClause.NO_LOST_WAKE_UP,
        (refuse_buffer(4, "Exhausted", ask(4, "b")), refuse("b", "allocate", "Exhausted")),
    ),
    "lent after close": (PoolClause.CLOSE_RELEASES, (_CLOSE, lend("x", 4))),
    "what can be lent is refused as too much": (
        PoolClause.KEEPS_TO_ITS_DOMAIN,
        (refuse_buffer(10, "IllegalArgument"),),
    ),
}


_A_WAITS = (lend("x", 6), ask(6), queued(1))
_OVERTAKEN = (*_A_WAITS, lend("y", 4, process="b"))
_IN_VAIN = refuse("a", "allocate", "Exhausted")
_IN_TURN: dict[str, Sequence[Lines]] = {
    "the one that is seen may be the one that nobody knows of": (
        lend("x", 6),
        ask(6),
        _LOST,
        ask(6, "c"),
        queued(1),
        lend("y", 4, process="b"),
        give_back("x", process="b"),
        end("c", "allocate", Allocated(buffer="z", size=6)),
    ),
    "served first": (
        *_A_WAITS,
        ask(4, "b"),
        give_back("x", process="c"),
        end("a", "allocate", Allocated(buffer="z", size=6)),
        end("b", "allocate", Allocated(buffer="y", size=4)),
    ),
    "served before the other, and told of it later": (
        *_A_WAITS,
        ask(4, "b"),
        give_back("x", process="c"),
        end("b", "allocate", Allocated(buffer="y", size=4)),
        end("a", "allocate", Allocated(buffer="z", size=6)),
    ),
    "nobody looked whether it waits": (
        *_A_WAITS[:2],
        lend("y", 4, process="b"),
        give_back("x", process="c"),
        end("a", "allocate", Allocated(buffer="z", size=6)),
    ),
    "nothing is asked for, and then it is served": (
        *_A_WAITS,
        lend("y", 0, process="b"),
        queued(1),
        give_back("x", process="b"),
        end("a", "allocate", Allocated(buffer="z", size=6)),
    ),
    "may have given up before": (*_OVERTAKEN, _IN_VAIN),
    "may have come later": (lend("x", 6), ask(6), lend("y", 4, process="b"), queued(1), _IN_VAIN),
    "not all are seen": (
        *_A_WAITS[:2],
        ask(6, "c"),
        queued(1),
        *_OVERTAKEN[3:],
        queued(1),
        _IN_VAIN,
    ),
    "seen while the other is served": (*_A_WAITS, queued(1, lend("y", 4, process="b")), _IN_VAIN),
    "nothing is asked for": (*_A_WAITS, lend("y", 0, process="b"), queued(1), _IN_VAIN),
}


def _rules(lines: Sequence[Lines], profile: str) -> list[str]:
    flat = [line for some in lines for line in some]
    history = history_of("buffer_pool", _CONFIG, flat, quiet=False, clock="virtual")
    verdict = judged(replace(history, header=replace(history.header, profile=profile)))
    assert verdict.profile == profile
    return [] if verdict.violation is None else [verdict.violation.rule]


@pytest.mark.parametrize("name", _IN_TURN)
def test_who_may_have_been_in_turn_passes(name: str) -> None:
    assert _rules(_IN_TURN[name], LONGEST_WAITING_FIRST) == []


def test_who_is_served_before_somebody_who_waits_is_seen_where_that_is_promised() -> None:
    overtaken = (*_OVERTAKEN, queued(1), _IN_VAIN)
    assert _rules(overtaken, LONGEST_WAITING_FIRST) == [PoolClause.LONGEST_WAITING_FIRST]
    assert _rules(overtaken, KAFKA) == []


_SERVED_LATE: dict[str, Sequence[Lines]] = {
    "a look shows that it still waits": (
        lend("w", 2),
        lend("x", 2),
        ask(8),
        queued(1),
        lend("y", 2, process="b"),
        queued(1),
        give_back("w", process="b"),
        give_back("x", process="b"),
        give_back("y", process="b"),
        end("a", "allocate", Allocated(buffer="z", size=8)),
    ),
    "what it asks for is not there": (
        *_OVERTAKEN,
        give_back("x", process="b"),
        end("a", "allocate", Allocated(buffer="z", size=6)),
    ),
    "by the second who came later": (
        *_A_WAITS,
        give_back("x", lend("y", 1, process="b"), process="c"),
        lend("v", 4, process="b"),
        give_back("y", process="b"),
        end("a", "allocate", Allocated(buffer="z", size=6)),
    ),
}


@pytest.mark.parametrize("name", _SERVED_LATE)
def test_who_is_served_after_somebody_who_asked_later_is_seen(name: str) -> None:
    lines = _SERVED_LATE[name]
    assert _rules(lines, LONGEST_WAITING_FIRST) == [PoolClause.LONGEST_WAITING_FIRST]
    assert _rules(lines, KAFKA) == []


_AFTERWARDS: Sequence[Lines] = (
    lend("fresh", 1, process="z"),
    refuse_buffer(11, "IllegalArgument", process="z"),
    give_back("fresh", process="z"),
    lend("fresh", 1, process="z"),
)
_INTERRUPTED_BY_NOBODY = refuse_buffer(4, "Interrupted", process="z")


@pytest.mark.parametrize("name", _RIGHT)
def test_what_keeps_the_rules_passes(name: str) -> None:
    assert broken_rule(_CONFIG, _RIGHT[name], quiet=False) is None


@pytest.mark.parametrize("name", _WRONG)
def test_what_breaks_a_rule_fails(name: str) -> None:
    clause, lines = _WRONG[name]
    assert broken_rule(_CONFIG, lines, quiet=False) == clause


@pytest.mark.parametrize("name", _WRONG)
def test_what_comes_after_a_violation_is_judged_for_itself(name: str) -> None:
    clause, lines = _WRONG[name]
    after = (*lines, *_AFTERWARDS, _INTERRUPTED_BY_NOBODY)
    both = dict.fromkeys((clause, PoolClause.ENDS_FOR_A_REASON))
    assert broken_rules(_CONFIG, after, quiet=False) == list(both)


def test_an_answer_that_is_wrong_hides_no_buffer_that_was_taken_back() -> None:
    lines = (lend("y", 4), lend("y", 4, give_back("x", process="b")))
    broken = [PoolClause.LENDS_ONCE, PoolClause.TAKES_BACK_ONLY_LOANS]
    assert broken_rules(_CONFIG, lines) == broken
