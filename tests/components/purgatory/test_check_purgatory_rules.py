"""What the checker says of purgatories' histories that keep, or break, one rule each."""

from collections.abc import Sequence

import pytest
from wheelproof_spec.base.codec.definitions import CountAnswer
from wheelproof_spec.components.purgatory.events import (
    CompletedAnswer,
    KeyAsked,
    OperationAsked,
    PurgatorySettings,
    WatchAsked,
)

from support.history.history_scripts import (
    Lines,
    advance,
    begin,
    broken_rule,
    cancel,
    check,
    completes,
    end,
    expires,
    force,
    gauge,
    refuse,
    satisfy,
    tick,
    watch,
)
from wheelproof_spec.base.codec.vocabulary import Nothing

_CLAIMS = PurgatorySettings(
    predicates="recorded",
    attempts="exclusive",
    cancels="operation",
    timeouts="end_with_operation",
)
_EXPIRY: tuple[Lines, ...] = (watch("a"), tick(10), advance(), completes("a", "t"), expires("a"))
_DONE: tuple[Lines, ...] = (watch("a"), satisfy("a"), check(1, completes("a")))
_WATCH_A = begin("w", "try_complete_else_watch", WatchAsked(op="a", keys=("k",), delay_ms=10))
_WATCHED = end("w", "try_complete_else_watch", CompletedAnswer(completed=False))
_OF_A = OperationAsked(op="a")

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
        begin("s", "satisfy", _OF_A),
        check(0),
        end("s", "satisfy", Nothing()),
        check(1, completes("a")),
    ),
    "another call completes it": (
        watch("a"),
        begin("d", "check_and_complete", KeyAsked(key="k")),
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
            begin("g", "watched"),
            watch("b"),
            satisfy("a"),
            check(1, completes("a")),
            check(0),
            end("g", "watched", CountAnswer(count=count)),
            force("b", completes("b", "f"), done=True),
        )
        for count in (0, 2)
    },
    "a leftover is counted": (*_EXPIRY, gauge("watched", 1)),
    "a check drops it": (*_DONE, check(0), gauge("watched", 0), gauge("num_delayed", 0)),
    "a time-out that an advance has in hand stays": (
        watch("a"),
        begin("reaper", "advance"),
        satisfy("a"),
        check(1, completes("a")),
        end("reaper", "advance"),
        gauge("num_delayed", 1),
    ),
    "attempts in turn": (
        watch("a"),
        begin("t1", "try_complete", _OF_A),
        end("t1", "try_complete"),
        begin("t2", "try_complete", _OF_A),
        end("t2", "try_complete"),
        *_EXPIRY[1:],
    ),
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
        (*_EXPIRY[:-1],),
    ),
    "expired early, with the predicate true": (
        "Purgatory.ExpiresInTime",
        (watch("a"), satisfy("a"), completes("a", "t"), expires("a")),
    ),
    "left behind by an advance": ("Purgatory.ExpiresInTime", _EXPIRY[:3]),
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
        "Purgatory.OneCallerCompletes",
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
    "overlooked by a cancel": ("Purgatory.CancelsWhoWaits", (watch("a"), cancel())),
    "cancelled, never handed in": ("Purgatory.CancelsWhoWaits", (cancel("a"),)),
    "a watch is missing": ("Purgatory.WatchedCountsWatches", (watch("a"), gauge("watched", 0))),
    "a watch too many": ("Purgatory.WatchedCountsWatches", (watch("a"), gauge("watched", 2))),
    "a watch is left": (
        "Purgatory.WatchedCountsWatches",
        (*_DONE, check(0), gauge("watched", 1)),
    ),
    "a time-out is missing": (
        "Purgatory.DelayedCountsTimeouts",
        (watch("a"), gauge("num_delayed", 0)),
    ),
    "a time-out is left": ("Purgatory.DelayedCountsTimeouts", (*_DONE, gauge("num_delayed", 1))),
    "attempts overlap": (
        "Purgatory.AttemptsExclude",
        (
            watch("a"),
            begin("t1", "try_complete", _OF_A),
            begin("t2", "try_complete", _OF_A),
            end("t1", "try_complete"),
            end("t2", "try_complete"),
        ),
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
    "lines",
    [
        _WRONG["a time-out is left"][1],
        _WRONG["attempts overlap"][1],
        (watch("a"), check(1, completes("a"))),
        (watch("a"), cancel("a"), satisfy("a"), check(1, completes("a"))),
    ],
)
def test_what_nobody_claims_is_not_held_against_anybody(lines: Sequence[Lines]) -> None:
    assert broken_rule(PurgatorySettings(), lines, quiet=False) is None
