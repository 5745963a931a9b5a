"""The small stretches of a pool's long history are searched, each by itself."""

from collections.abc import Sequence

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import (
    Lines,
    ask,
    available,
    broken_rules,
    give_back,
    judged,
    lend,
    refuse,
    refuse_buffer,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.buffer_pool.component import PoolClause, PoolConfig
from wheelproof_spec.components.buffer_pool.history import stretches
from wheelproof_spec.history.linearizability.small_histories import MOST_EVENTS
from wheelproof_spec.history.run import NO_CALL_CRASHES

_CONFIG = PoolConfig(total_memory=10, poolable_size=4)
_LONG: Sequence[Lines] = (lend("w", 4), give_back("w")) * (MOST_EVENTS // 4 + 1)
_THERE = (lend("x", 4), give_back("x", available(6), available(10), process="b"))
_NOT_THERE_ANY_MORE = (lend("x", 4), give_back("x", available(10), available(6), process="b"))
_BEHIND_EACH_OTHER = (
    refuse_buffer(6, "Exhausted", ask(6, "b")),
    refuse("b", "allocate", "Exhausted"),
)
_CRASHED = (Line("c", "fail", "allocate", Nothing(), "Crashed"),)


def _notes(lines: Sequence[Lines]) -> str:
    flat = [line for some in lines for line in some]
    return " ".join(judged(history_of("buffer_pool", _CONFIG, flat, quiet=True)).notes)


@pytest.mark.parametrize("before", [(), _LONG], ids=["small", "long"])
@pytest.mark.parametrize("after", [(), _LONG], ids=["at the end", "before others"])
def test_a_stretch_is_searched_wherever_it_is(
    before: Sequence[Lines], after: Sequence[Lines]
) -> None:
    assert broken_rules(_CONFIG, (*before, *_THERE, *after)) == []
    broken = broken_rules(_CONFIG, (*before, *_NOT_THERE_ANY_MORE, *after))
    assert broken == [PoolClause.MEMORY_IS_CONSERVED]


def test_what_was_lent_before_a_stretch_is_known_in_it() -> None:
    assert broken_rules(_CONFIG, (*_LONG, lend("y", 5), *_BEHIND_EACH_OTHER)) == []
    broken = broken_rules(_CONFIG, (*_LONG, lend("y", 4), *_BEHIND_EACH_OTHER))
    assert broken == [PoolClause.NO_LOST_WAKE_UP]


def test_what_a_call_that_crashed_has_left_behind_is_not_known() -> None:
    crash = (ask(6, "c"), available(10), _CRASHED, available(4))
    assert broken_rules(_CONFIG, (*_LONG, *crash)) == [NO_CALL_CRASHES]


def test_what_comes_after_a_call_that_was_lost_hides_nothing() -> None:
    lost = (ask(6, "c"), (Line("c", "info", "allocate", Nothing()),))
    assert broken_rules(_CONFIG, (*_THERE, *lost, available(10), available(4), *_LONG[2:])) == []
    broken = broken_rules(_CONFIG, (*_NOT_THERE_ANY_MORE, *lost, *_LONG))
    assert broken == [PoolClause.MEMORY_IS_CONSERVED]


def test_a_search_that_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (*_LONG, *_THERE, *_NOT_THERE_ANY_MORE)
    assert broken_rules(_CONFIG, lines) == [PoolClause.MEMORY_IS_CONSERVED]
    assert "gave up" not in _notes((*_LONG, *_THERE))
    monkeypatch.setattr(stretches, "MOST_OF_A_HISTORY", 1)
    assert broken_rules(_CONFIG, lines) == []
    assert "gave up" in _notes(lines)
