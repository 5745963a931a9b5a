"""What the checker says of purgatories' histories that keep, or break, one rule each."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support.agreement.small_histories import history_of
from support.history.history_scripts import Lines, broken_rule, broken_rules, judged, refuse
from support.history.purgatory_scripts import (
    advance,
    await_submitted,
    begin_call,
    cancel,
    check,
    completed,
    completes,
    end_call,
    expires,
    force,
    gauge,
    hand_in,
    purge,
    satisfy,
    tick,
    tried,
    tries,
    watch,
)
from wheelproof_spec.base.calls import Gauge, Watched
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.components.purgatory.component import (
    WHEELPROOF,
    CheckAndComplete,
    Completed,
    PurgatoryClause,
    PurgatoryConfig,
    Satisfy,
)

_CLAIMS = PurgatoryConfig(
    predicates="recorded",
    attempts="exclusive",
    cancels="operation",
    timeouts="end_with_operation",
)
_EXPIRY: tuple[Lines, ...] = (watch("a"), tick(10), advance(), completes("a", "t"), expires("a"))
_DONE: tuple[Lines, ...] = (watch("a"), satisfy("a"), check(1, completes("a")))
_WATCH_A = begin_call("w", hand_in("a"))
_WATCHED = end_call("w", hand_in("a"), Completed(completed=False))
_CANCELLED_UNDER_ONE_KEY: tuple[Lines, ...] = (watch("a", keys="kl"), cancel("a"))
_IN_HAND: tuple[Lines, ...] = (
    watch("a"),
    advance(satisfy("a"), check(1, completes("a"))),
)

_RIGHT: dict[str, Sequence[Lines]] = {
    "an expiry": _EXPIRY,
    "a trigger": _DONE,
    "what is due at once runs inside the watch": (
        watch("a", completes("a", "w"), expires("a", "w"), delay_ms=0),
    ),
    "the watch completes": (satisfy("a"), watch("a", completes("a", "w"), done=True)),
    "forced": (watch("a"), force("a", completes("a", "f"), done=True)),
    "forced twice": (
        watch("a"),
        force("a", completes("a", "f"), done=True),
        force("a", done=False),
    ),
    "cancelled": (watch("a"), cancel("a"), satisfy("a"), check(0), gauge("watched", 0)),
    "a check before the predicate": (watch("a"), check(0), satisfy("a"), *_EXPIRY[1:]),
    "a check beside the predicate": (
        watch("a"),
        begin_call("s", Satisfy(operation="a")),
        check(0),
        end_call("s", Satisfy(operation="a")),
        check(1, completes("a")),
    ),
    "another call completes it": (
        watch("a"),
        begin_call("d", CheckAndComplete(key="k")),
        satisfy("a"),
        check(0),
        completes("a", "d"),
        check(1, process="d")[1:],
    ),
    "the expiry was under way": (
        watch("a"),
        satisfy("a"),
        tick(10),
        check(0),
        completes("a", "t"),
        expires("a"),
    ),
    "gauges": (watch("a"), gauge("watched", 1), gauge("num_delayed", 1), *_EXPIRY[1:]),
    **{
        f"who comes and who goes during a look that answers {count}": (
            watch("a"),
            begin_call("g", Watched()),
            watch("b"),
            satisfy("a"),
            check(1, completes("a")),
            check(0),
            end_call("g", Watched(), Gauge(count=count)),
            force("b", completes("b", "f"), done=True),
        )
        for count in (0, 2)
    },
    "a leftover is counted": (*_EXPIRY, gauge("watched", 1)),
    "a check drops it": (*_DONE, check(0), gauge("watched", 0), gauge("num_delayed", 0)),
    "a time-out that an advance has in hand stays": (*_IN_HAND, gauge("num_delayed", 1)),
    "what an advance carries from bucket to bucket is not counted": (
        watch("a"),
        advance(gauge("num_delayed", 0)),
        gauge("num_delayed", 1),
    ),
    "it leaves with the next one that is due": (
        *_IN_HAND,
        tick(10),
        advance(),
        gauge("num_delayed", 0),
    ),
    "attempts in turn": (
        watch("a"),
        tries("t1", "a"),
        tried("t1", "a"),
        tries("t2", "a"),
        tried("t2", "a"),
        *_EXPIRY[1:],
    ),
    "a trigger beside the watch": (_WATCH_A, satisfy("a"), check(1, completes("a")), _WATCHED),
    "the trigger looked before it was watched": (
        _WATCH_A,
        satisfy("a"),
        check(0),
        completes("a", "w"),
        end_call("w", hand_in("a"), Completed(completed=True)),
    ),
    "a check that began before the predicate was true for sure": (
        watch("a"),
        begin_call("s", Satisfy(operation="a")),
        check(0),
        end_call("s", Satisfy(operation="a")),
    ),
    "a cancel beside the watch came too early": (_WATCH_A, cancel(), _WATCHED),
    "a cancel comes too late for who is being completed": (
        watch("a"),
        satisfy("a"),
        begin_call("d", CheckAndComplete(key="k")),
        cancel(),
        completes("a", "d"),
        check(1, process="d")[1:],
    ),
    "an advance that began before the clock moved": (
        watch("a"),
        advance(tick(10)),
        await_submitted(),
    ),
    "what was submitted has run": (*_EXPIRY, await_submitted()),
    "who is cancelled under one of two keys may be left under the other": (
        *_CANCELLED_UNDER_ONE_KEY,
        gauge("watched", 1),
        gauge("num_keys", 1),
        gauge("num_delayed", 0),
        purge(),
        gauge("watched", 0),
        gauge("num_keys", 0),
    ),
    "a purge beside a completion may miss it": (
        watch("a"),
        satisfy("a"),
        purge(force("a", completes("a", "f"), done=True)),
        gauge("watched", 1),
        gauge("num_keys", 1),
    ),
    "a purge before an expiry": (
        *_EXPIRY[:2],
        purge(),
        *_EXPIRY[3:],
        gauge("watched", 1),
        gauge("num_keys", 1),
    ),
    "completed by time, and it raised": _EXPIRY[:-1],
    "raised, and all were tried": (watch("a"), satisfy("a"), check(None, completes("a"))),
    "two in their order": (
        watch("a"),
        watch("b"),
        satisfy("a"),
        satisfy("b"),
        check(2, completes("a"), completes("b")),
    ),
}

_WRONG: dict[str, tuple[str, Sequence[Lines]]] = {
    "completed twice": ("Purgatory.CompletesAtMostOnce", (*_DONE, completes("a", "t"))),
    "completed twice in one check": (
        "Purgatory.CompletesAtMostOnce",
        (watch("a"), satisfy("a"), check(2, completes("a"), completes("a"))),
    ),
    "completed before anybody makes its predicate true": (
        "Purgatory.CompletesForAReason",
        (watch("a"), check(1, completes("a")), satisfy("a")),
    ),
    "completed by nobody": (
        "Purgatory.CompletesForAReason",
        (watch("a"), check(1, completes("a"))),
    ),
    "never handed in": ("Purgatory.CompletesForAReason", (completes("a", "t"),)),
    "completed before the time": (
        "Purgatory.CompletesForAReason",
        (watch("a"), tick(9), completes("a", "t"), expires("a")),
    ),
    "refused, and completed": (
        "Purgatory.CompletesForAReason",
        (
            _WATCH_A,
            refuse("w", "try_complete_else_watch", "ValueError"),
            satisfy("a"),
            check(1, completes("a")),
        ),
    ),
    "expired without completion": (
        "Purgatory.ExpiresAtMostOnceAfterCompletion",
        (watch("a"), tick(10), expires("a")),
    ),
    "expired twice": ("Purgatory.ExpiresAtMostOnceAfterCompletion", (*_EXPIRY, expires("a"))),
    "completed by time, never expired": (
        "Purgatory.ExpiresAtMostOnceAfterCompletion",
        (*_EXPIRY[:-1], completed("a", "t")),
    ),
    "expired early, with the predicate true": (
        "Purgatory.ExpiresInTime",
        (watch("a"), satisfy("a"), completes("a", "t"), expires("a")),
    ),
    "left behind by an advance": ("Purgatory.ExpiresInTime", _EXPIRY[:3]),
    "left behind by an advance, and late": (
        "Purgatory.ExpiresInTime",
        (*_EXPIRY[:3], await_submitted(), *_EXPIRY[3:]),
    ),
    "expired though a check completed it": (
        "Purgatory.ExpiresAtMostOnceAfterCompletion",
        (*_DONE, tick(10), expires("a")),
    ),
    "the watch denies": (
        "Purgatory.AnswersWhetherItCompleted",
        (satisfy("a"), watch("a", completes("a", "w"), done=False)),
    ),
    "the watch boasts": (
        "Purgatory.AnswersWhetherItCompleted",
        (satisfy("a"), watch("a", done=True)),
    ),
    "two boast": (
        "Purgatory.AnswersWhetherItCompleted",
        (watch("a"), force("a", completes("a", "f"), done=True), force("a", done=True)),
    ),
    "forced in vain": ("Purgatory.CompletesAtMostOnce", (watch("a"), force("a", done=False))),
    "denied too early": (
        "Purgatory.AnswersWhetherItCompleted",
        (watch("a"), force("a", done=False), satisfy("a"), check(1, completes("a"))),
    ),
    "counted too many": (
        "Purgatory.CountsWhatItCompleted",
        (watch("a"), satisfy("a"), check(2, completes("a"))),
    ),
    "counted too few": (
        "Purgatory.CountsWhatItCompleted",
        (watch("a"), satisfy("a"), check(0, completes("a"))),
    ),
    "nobody counts it": (
        "Purgatory.CountsWhatItCompleted",
        (watch("a"), satisfy("a"), completes("a", "t"), check(0)),
    ),
    "out of order": (
        "Purgatory.TriesInWatchOrder",
        (
            watch("a"),
            watch("b"),
            satisfy("a"),
            satisfy("b"),
            check(2, completes("b"), completes("a")),
        ),
    ),
    "a lost trigger": ("Purgatory.TriggerCompletes", (watch("a"), satisfy("a"), check(0))),
    "a lost trigger before it is watched": (
        "Purgatory.TriggerCompletes",
        (_WATCH_A, satisfy("a"), check(0), _WATCHED),
    ),
    "an early predicate": ("Purgatory.TriggerCompletes", (satisfy("a"), watch("a"))),
    "cancelled and completed": (
        "Purgatory.CancelsWhoWaits",
        (watch("a"), cancel("a"), satisfy("a"), check(1, completes("a"))),
    ),
    "completed and cancelled": ("Purgatory.CancelsWhoWaits", (*_DONE, cancel("a"))),
    "cancelled beside its trigger, and completed": (
        "Purgatory.CancelsWhoWaits",
        (
            watch("a"),
            cancel("a", inside=satisfy("a")),
            check(1, completes("a")),
        ),
    ),
    "overlooked by a cancel, though it can end": (
        "Purgatory.CancelsWhoWaits",
        (watch("a"), satisfy("a"), cancel()),
    ),
    "overlooked by a cancel": ("Purgatory.CancelsWhoWaits", (watch("a"), cancel())),
    "cancelled, never handed in": ("Purgatory.CancelsWhoWaits", (cancel("a"),)),
    "a watch is missing": ("Purgatory.WatchedCountsWatches", (watch("a"), gauge("watched", 0))),
    "a watch too many": ("Purgatory.WatchedCountsWatches", (watch("a"), gauge("watched", 2))),
    "a watch is left": (
        "Purgatory.WatchedCountsWatches",
        (*_DONE, check(0), gauge("watched", 1)),
    ),
    "a watch outlives a purge": (
        "Purgatory.WatchedCountsWatches",
        (*_CANCELLED_UNDER_ONE_KEY, purge(), gauge("watched", 1)),
    ),
    "a key is missing": ("Purgatory.NoEmptyKeyIsKept", (watch("a"), gauge("num_keys", 0))),
    "an empty key is left": (
        "Purgatory.NoEmptyKeyIsKept",
        (*_DONE, check(0), gauge("num_keys", 1)),
    ),
    "a key outlives a purge": (
        "Purgatory.NoEmptyKeyIsKept",
        (*_CANCELLED_UNDER_ONE_KEY, purge(), gauge("num_keys", 1)),
    ),
    "a time-out outlives the advance that is due": (
        "Purgatory.DelayedCountsTimeouts",
        (*_IN_HAND, tick(10), advance(), gauge("num_delayed", 1)),
    ),
    "a time-out of who is cancelled is left": (
        "Purgatory.DelayedCountsTimeouts",
        (*_CANCELLED_UNDER_ONE_KEY, gauge("num_delayed", 1)),
    ),
    "a time-out is missing": (
        "Purgatory.DelayedCountsTimeouts",
        (watch("a"), gauge("num_delayed", 0)),
    ),
    "an advance carries one at a time": (
        "Purgatory.DelayedCountsTimeouts",
        (watch("a"), watch("b"), advance(gauge("num_delayed", 0))),
    ),
    "a time-out is left": ("Purgatory.DelayedCountsTimeouts", (*_DONE, gauge("num_delayed", 1))),
    "attempts overlap": (
        "Purgatory.AttemptsExclude",
        (
            watch("a"),
            tries("t1", "a"),
            tries("t2", "a"),
            tried("t1", "a"),
            tried("t2", "a"),
        ),
    ),
}


@pytest.mark.parametrize("name", _RIGHT)
def test_what_keeps_the_rules_passes(name: str) -> None:
    assert broken_rule(_CLAIMS, _RIGHT[name]) is None


@pytest.mark.parametrize("name", _WRONG)
def test_what_breaks_a_rule_fails(name: str) -> None:
    rule, lines = _WRONG[name]
    assert broken_rules(_CLAIMS, lines) == [rule]


@pytest.mark.parametrize(
    "lines",
    [
        _WRONG["a time-out is left"][1],
        _WRONG["attempts overlap"][1],
        (watch("a"), check(1, completes("a"))),
        (watch("a"), cancel("a"), satisfy("a"), check(1, completes("a"))),
    ],
)
def test_what_nobody_claims_is_not_held_against_anybody(lines: Sequence[Lines]) -> None:
    assert broken_rule(PurgatoryConfig(), lines, quiet=False) is None


def test_each_clause_is_counted_where_it_is_tested() -> None:
    lines = [line for script in _RIGHT["gauges"] for line in script]
    few = judged(history_of("purgatory", _CLAIMS, lines, quiet=True, clock="virtual")).checked
    assert (few[PurgatoryClause.WATCHED_COUNTS], few[PurgatoryClause.NO_EMPTY_KEY]) == (1, 0)
    tested: set[str] = set()
    for scripts in _RIGHT.values():
        lines = [line for script in scripts for line in script]
        history = history_of("purgatory", _CLAIMS, lines, quiet=True, clock="virtual")
        verdict = judged(history, WHEELPROOF)
        tested.update(clause for clause, times in verdict.checked.items() if times)
    assert tested == set(clauses_of(PurgatoryClause, Wire.RECORDED, WHEELPROOF))


@pytest.mark.parametrize(
    "script",
    [
        # Rounded down to a tick of 3 ms, a time-out of 2 ms is over at once.
        (watch("a", completes("a", "w"), expires("a", "w"), delay_ms=2),),
        # The clock goes on while the operation is handed in.
        (watch("a", tick(10), advance(), completes("a", "w"), expires("a", "w")),),
    ],
    ids=["rounded down", "beside an advance"],
)
def test_what_is_due_by_then_may_expire_inside_the_watch(script: Sequence[Lines]) -> None:
    assert broken_rules(replace(_CLAIMS, tick_ms=3), script) == []


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside an advance"])
def test_a_reaper_that_nobody_records_may_carry_one(count: int, *, beside: bool) -> None:
    look = gauge("num_delayed", count)
    script = (watch("a"), watch("b"), advance(look) if beside else look)
    lines = [line for part in script for line in part]
    times = [50_000 + place for place in range(len(lines))]
    violation = judged(history_of("purgatory", _CLAIMS, lines, quiet=False, times=times)).violation
    assert (violation is None) is (count > 0)


@pytest.mark.parametrize(
    ("expired_us", "rule"), [(9_850, None), (7_900, PurgatoryClause.COMPLETES_FOR_A_REASON)]
)
def test_an_expiry_may_be_early_by_what_kafkas_clock_cannot_tell(
    expired_us: int, rule: str | None
) -> None:
    lines = [line for part in (watch("a"), completes("a", "t"), expires("a")) for line in part]
    times = [50_000 if index < 2 else 50_000 + expired_us * 1_000 for index in range(len(lines))]
    history = history_of("purgatory", _CLAIMS, lines, quiet=True, times=times)
    fine = replace(history.header, clock_resolution_ns=1_000)
    verdict = judged(replace(history, header=fine))
    assert (verdict.violation and verdict.violation.rule) == rule
    if rule is None:
        assert not any("clock_resolution_ns" in note for note in verdict.notes)
        assert any("clock_resolution_ns" in note for note in judged(history).notes)
