"""The ledger of a pool and the effects of its operations, one at a time and in turns."""

from copy import deepcopy

import pytest

from support.agreement.small_histories import History, Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.history.judging import WholeHistory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    LONGEST_WAITING_FIRST,
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    PoolFault,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.history.search import search
from wheelproof_spec.components.buffer_pool.ledger import Lent, Request
from wheelproof_spec.components.buffer_pool.model import LedgerPool

_CONFIG = PoolConfig(total_memory=10, poolable_size=4)


def _pool(profile: str = LONGEST_WAITING_FIRST) -> LedgerPool:
    return LedgerPool(_CONFIG, profile)


def _lent(pool: LedgerPool, call: str, size: int) -> LedgerPool:
    pool.ask(call, Request(size))
    assert pool.lend(call, call) is None
    return pool


def test_what_is_lent_comes_back_once() -> None:
    pool = _lent(_pool(), "a", 7)
    assert (pool.left(), dict(pool.lent)) == (3, {"a": Lent(7)})
    assert pool.give_back("a")
    assert not pool.give_back("a")
    assert (pool.left(), dict(pool.lent)) == (10, {})


def test_no_more_is_lent_than_there_is() -> None:
    pool = _lent(_pool(), "a", 7)
    pool.ask("b", Request(4))
    violation = deepcopy(pool).lend("b", "b")
    assert violation is not None
    assert violation.rule is PoolClause.NO_MORE_THAN_TOTAL
    assert pool.give_back("a")
    assert pool.lend("b", "b") is None


@pytest.mark.parametrize("profile", [LONGEST_WAITING_FIRST, KAFKA])
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("size", [0, 1])
def test_who_may_overtake(profile: str, waits: bool, size: int) -> None:
    pool = _lent(_pool(profile), "a", 7)
    pool.ask("b", Request(4, waits=True))
    pool.ask("c", Request(size, waits=waits))
    violation = pool.lend("c", "c")
    may = size == 0 or (profile == KAFKA and not waits)
    assert (violation is None) is may
    assert may or (violation and violation.rule) is PoolClause.LONGEST_WAITING_FIRST


def test_a_newcomer_waits_only_behind_others_or_for_what_is_not_there() -> None:
    pool = _lent(_pool(), "a", 7)
    pool.ask("b", Request(3))
    violation = deepcopy(pool).enqueue("b")
    assert violation is not None
    assert violation.rule is PoolClause.NO_LOST_WAKE_UP
    assert pool.lend("b", "b") is None
    pool.ask("c", Request(1))
    assert pool.enqueue("c") is None
    pool.ask("d", Request(2))
    assert pool.enqueue("d") is None
    pool.ask("e", Request(0))
    violation = pool.enqueue("e")
    assert violation is not None
    assert violation.rule is PoolClause.NO_LOST_WAKE_UP


def test_nobody_waits_for_a_closed_pool() -> None:
    pool = _pool()
    pool.ask("a", Request(11, waits=True))
    assert pool.forbids_end("a", PoolOutcome.CLOSED) is not None
    pool.close()
    assert pool.forbids_end("a", PoolOutcome.CLOSED) is None
    pool.ask("b", Request(1))
    violations = [pool.judge_rest(), pool.enqueue("b"), pool.forbids_end("b", PoolOutcome.BUFFER)]
    assert {one and one.rule for one in violations} == {PoolClause.CLOSE_RELEASES}


@pytest.mark.parametrize(("latest_ms", "waits"), [(0, False), (0, True), (1, False), (1, True)])
def test_a_closed_pool_says_that_it_is_closed(latest_ms: int, waits: bool) -> None:
    pool = _pool()
    pool.ask("a", Request(11, latest_ms=latest_ms, waits=waits))
    assert pool.forbids_end("a", PoolOutcome.EXHAUSTED) is None
    pool.close()
    violation = pool.forbids_end("a", PoolOutcome.EXHAUSTED)
    # With a coarse clock the time of a thread that waits may have been out before.
    assert (violation and violation.rule) is (
        None if latest_ms and waits else PoolClause.CLOSE_RELEASES
    )


def test_only_the_first_of_the_line_gathers() -> None:
    pool = _lent(_pool(), "a", 3)
    pool.ask("b", Request(9, waits=True))
    pool.ask("c", Request(9, waits=True))
    assert [size for size in range(11) if pool.judge_memory(size, None) is None] == [*range(8)]
    pool.leave("b")
    pool.leave("c")
    pool.ask("d", Request(3, waits=True))
    pool.ask("e", Request(9, waits=True))
    assert [size for size in range(11) if pool.judge_memory(size, None) is None] == [5, 6, 7]


def test_what_is_reserved_is_gone_until_it_is_lent_or_comes_back() -> None:
    pool = _lent(_pool(), "a", 3)
    pool.ask("b", Request(6))
    before = pool.copy()
    assert pool.reserve("b") is None
    assert (pool.left(), set(pool.lent), set(pool.requests)) == (1, {"a"}, set())
    lent, undone = pool.copy(), pool.copy()
    assert lent.lend("b", "x", "p") is None
    assert (lent.left(), lent.lent["x"]) == (1, Lent(6, "p"))
    undone.leave("b")
    assert (undone.left(), set(undone.lent)) == (7, {"a"})
    assert len({one.key() for one in (before, pool, lent, undone, undone.copy())}) == 4


def test_a_return_is_refused_if_it_is_no_loan_an_old_one_or_a_part() -> None:
    pool = _pool()
    assert pool.may_refuse("x")
    pool.ask("a", Request(4))
    assert pool.lend("a", "x", "p") is None
    assert [pool.may_refuse("x", 4, "p"), pool.may_refuse("x", 4, "q")] == [False, False]
    assert pool.may_refuse("x", 5, "p")
    assert not pool.give_back("x", 5)
    assert pool.give_back("x", 4)
    pool.ask("b", Request(4))
    assert pool.lend("b", "x", "p") is None
    assert [pool.may_refuse("x", 4, "p"), pool.may_refuse("x", 4, "q")] == [False, True]


def test_an_end_needs_a_reason_and_a_guard_changes_nothing() -> None:
    pool = _lent(_pool(), "a", 7)
    pool.ask("b", Request(4, deadline_ms=5, waits=True))
    before = dict(pool.requests), dict(pool.lent)
    for outcome in PoolOutcome:
        wrong = pool.forbids_end("b", outcome)
        assert (wrong is None) is (outcome is PoolOutcome.BUFFER)
    assert (dict(pool.requests), dict(pool.lent)) == before
    pool.interrupt("b")
    assert pool.forbids_end("b", PoolOutcome.INTERRUPTED) is None
    pool.move_clock(5)
    pool.move_clock(1)
    assert pool.now_ms == 5
    assert pool.forbids_end("b", PoolOutcome.EXHAUSTED) is None
    pool.leave("b")
    violation = pool.forbids_end("b", PoolOutcome.EXHAUSTED)
    assert violation is not None
    assert violation.rule is PoolClause.ENDS_ONCE
    pool.interrupt("b")
    assert not pool.requests


def test_a_call_with_a_name_that_an_earlier_one_had_is_another_call() -> None:
    pool = _pool()
    pool.ask("a", Request(1, fault=PoolFault.ALLOCATOR, interrupted=True))
    pool.leave("a")
    pool.ask("a", Request(1))
    for outcome in (PoolOutcome.OUT_OF_MEMORY, PoolOutcome.INTERRUPTED):
        assert pool.forbids_end("a", outcome) is not None


def _allocate(process: str, buffer: str, size: int) -> list[Line]:
    asked = Allocate(size=size, max_time_to_block_ms=1)
    answer = Allocated(buffer=buffer, size=size)
    return [
        Line(process, "invoke", "allocate", asked),
        Line(process, "ok", "allocate", answer),
    ]


def _deallocate(process: str, buffer: str) -> list[Line]:
    return [
        Line(process, "invoke", "deallocate", Deallocate(buffer=buffer)),
        Line(process, "ok", "deallocate", Nothing()),
    ]


def _searched(lines: list[Line]) -> Verdict | None:
    history: History = history_of("buffer_pool", _CONFIG, lines, quiet=False)
    found = search(
        WholeHistory(
            header=history.header, profile=LONGEST_WAITING_FIRST, ops=history.ops, quiet=False
        )
    )
    return None if found is None else found.verdict


def test_a_buffer_is_lent_again_only_when_it_has_come_back() -> None:
    begin, end = _deallocate("p", "x")
    first, second = _allocate("p", "x", 4), _allocate("q", "x", 4)
    assert _searched([*first, begin, *second, end]) is Verdict.PASS
    assert _searched([*first, begin, end, *second]) is Verdict.PASS
    assert _searched([*first, *second, begin, end]) is Verdict.FAIL


def test_which_buffer_an_open_call_has_got_is_not_known() -> None:
    asked, _ = _allocate("p", "?", 7)
    back = _deallocate("q", "x")
    assert _searched([asked, *back]) is Verdict.PASS
    assert _searched(back) is Verdict.FAIL
    assert _searched([asked, *back, *_deallocate("r", "y")]) is Verdict.FAIL
