"""The promises that MaybeTryComplete keeps in each discipline, and the clauses of the proofs."""

from collections.abc import Mapping

from wheelproof_lab.prove.purgatory.maybe_try_complete import (
    THREAD,
    TRYING,
    answers,
    at,
    at_end,
    attempts,
    done,
    ender,
    expirations,
    go,
    holder,
    if_step,
    lock,
    locked,
    needed,
    owed,
    pc,
    pending,
    raising,
    refused,
    restless,
    retry,
    state,
    step,
    t,
    timer,
    trigger,
    try_lock,
)
from wheelproof_lab.prove.system import Instance, Proof, System, Tie, Variant
from wheelproof_lab.prove.terms import (
    FALSE,
    INT,
    Term,
    after,
    all_of,
    any_of,
    as_term,
    for_all,
    for_all_pairs,
    if_,
    there_is,
)

WORDS: Mapping[str, str] = {
    "EachThreadIsAtAStepOfItsOwn": (
        "a trigger is never in the middle of what a time-out or a stranger does, and the other "
        "way round"
    ),
    "TheLockHasOneHolder": "no two threads hold the operation's lock",
    "TheLockIsHeldInside": (
        "a thread holds the lock exactly while it is between the step that takes it and the "
        "one that releases it"
    ),
    "OneThreadCompletes": "one thread at most has won the compare-and-set of the state",
    "DoneMeansCompletedByAThread": "the operation is completed exactly if some thread has won it",
    "WhoeverAnswersCompletedIt": "only the thread that won is in on_complete or in on_expiration",
    "TriggersTellNoExpiry": "on_expiration is called on the timer's threads alone",
    "AnsweredUnlessThatIsUnderWay": (
        "on_complete has run once if the operation is completed and nobody is about to run it, "
        "else never"
    ),
    "ExpiryIsToldLast": (
        "a time-out that won has told of it once if its thread has ended, else not yet"
    ),
    "NoOtherExpiry": "nobody is told of an expiry unless a time-out won",
    "OwedIsLookedAt": (
        "a trigger whose event nobody has looked at yet is itself on its way to test the "
        "predicate, or the operation is completed"
    ),
    "PendingIsWatched": (
        "if the flag is set, some trigger is going to test the predicate or to look at the "
        "flag, or the operation is completed"
    ),
    "OwedIsWatched": (
        "if nobody has looked at some event yet, some trigger is going to test the predicate, "
        "or to look at a flag that is set, or the operation is completed"
    ),
    "CompletesAtMostOnce": "on_complete runs once at most",
    "ExpiresOnlyIfItCompleted": (
        "on_expiration runs once at most, after on_complete, and only if a time-out completed "
        "the operation"
    ),
    "CompletedIsAnsweredAtRest": (
        "once the operation is completed and nobody is about to run on_complete, it has run"
    ),
    "TriesExcludeEachOther": "no two threads are in try_complete at the same time",
    "NoEventIsUnseenAtRest": (
        "when every trigger has returned, each event was seen by a test of the predicate that "
        "began after it, or the operation is completed"
    ),
    "TryCompleteAndOnCompleteExcludeEachOther": (
        "no thread is in try_complete while another one is in on_complete"
    ),
    "NoTryBeginsAfterCompletion": "no try_complete begins once the operation is completed",
}
"""What each clause, promise and step of the proofs says to a programmer."""
_MODULE = "purgatory/models/MaybeTryCompleteProof"
DISCIPLINES = ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")

_INSIDE = {
    "monitor": ("TryComplete", "ForceComplete", "OnComplete"),
    "try_lock_once": ("TryComplete", "ForceComplete", "OnComplete"),
    "try_lock_pending": ("ClearPending", "TryComplete", "ForceComplete", "OnComplete"),
    "blocking": ("IsDoneUnderLock", "TryComplete", "ForceComplete", "OnComplete"),
    "exclusive": ("IsDoneUnderLock", "TryComplete", "ForceIsDone", "ForceComplete", "OnComplete"),
}
"""The steps of a trigger at which it holds the lock, besides those that release it."""

_OUTSIDE = {
    "monitor": ("Lock",),
    "try_lock_once": ("TryLock",),
    "try_lock_pending": ("TryLock", "SetPending", "ReadPending", "IsDoneAgain"),
    "blocking": ("Lock",),
    "exclusive": ("Lock",),
}
"""The steps of a trigger at which it does not hold the lock, besides the first and the last."""

_RELEASING = ("Unlock", "UnlockAndRaise")


def _holds_the_lock(discipline: str, x: Term) -> Term:
    of_timers = pc(x).among("ForceComplete", "OnComplete", "Unlock")
    return any_of(
        trigger(x) & pc(x).among(*_INSIDE[discipline], *_RELEASING),
        holder(x) & pc(x).is_("LetGo"),
        timer(x) & of_timers if discipline == "exclusive" else FALSE,
    )


def _steps(discipline: str, x: Term) -> Term:
    own = ("MakeTrue", "IsDone", *_OUTSIDE[discipline], *_INSIDE[discipline], *_RELEASING, "Done")
    waits = ("ForceIsDone", "ForceLock", "Unlock") if discipline == "exclusive" else ()
    return all_of(
        trigger(x).implies(pc(x).among(*own)),
        pc(x).is_("UnlockAndRaise").implies(raising(x)),
        holder(x).implies(pc(x).among("Hold", "LetGo", "Done")),
        timer(x).implies(
            pc(x).among("ForceComplete", "OnComplete", "OnExpiration", "Done", *waits)
        ),
    )


def tries(x: Term) -> Term:
    """Say that a thread is in try_complete: until it returns or enters on_complete."""
    return trigger(x) & pc(x).among("TryComplete", "ForceIsDone", "ForceComplete")


_answering = there_is(THREAD, lambda x: pc(x).is_("OnComplete"))


def _clauses(discipline: str) -> dict[str, Term]:
    return {
        "EachThreadIsAtAStepOfItsOwn": for_all(THREAD, lambda x: _steps(discipline, x)),
        "TheLockHasOneHolder": for_all_pairs(
            THREAD, THREAD, lambda x, y: (lock(x) & lock(y)).implies(x.is_(y))
        ),
        "TheLockIsHeldInside": for_all(
            THREAD, lambda x: lock(x).is_(_holds_the_lock(discipline, x))
        ),
        "OneThreadCompletes": for_all_pairs(
            THREAD, THREAD, lambda x, y: (ender(x) & ender(y)).implies(x.is_(y))
        ),
        "DoneMeansCompletedByAThread": done().is_(there_is(THREAD, ender)),
        "WhoeverAnswersCompletedIt": for_all(
            THREAD, lambda x: pc(x).among("OnComplete", "OnExpiration").implies(ender(x))
        ),
        "TriggersTellNoExpiry": for_all(
            THREAD, lambda x: pc(x).is_("OnExpiration").implies(timer(x))
        ),
        "AnsweredUnlessThatIsUnderWay": answers().is_(
            if_(done() & ~_answering, as_term(1, INT), 0)
        ),
        "ExpiryIsToldLast": for_all(
            THREAD,
            lambda x: (timer(x) & ender(x)).implies(
                pc(x).among("OnComplete", "Unlock", "OnExpiration", "Done")
                & expirations().is_(if_(pc(x).is_("Done"), as_term(1, INT), 0))
            ),
        ),
        "NoOtherExpiry": (~there_is(THREAD, lambda x: timer(x) & ender(x))).implies(
            expirations().is_(0)
        ),
    }


_AT_REST = for_all(THREAD, lambda x: trigger(x).implies(pc(x).among("MakeTrue", "Done")))
_FRESH = {
    "NoEventIsUnseenAtRest": (_AT_REST & ~done()).implies(for_all(THREAD, lambda x: ~owed(x)))
}
_ONCE = {
    "CompletesAtMostOnce": answers() <= 1,
    "ExpiresOnlyIfItCompleted": (expirations() > 0).implies(
        expirations().is_(1) & answers().is_(1) & there_is(THREAD, lambda x: timer(x) & ender(x))
    ),
    "CompletedIsAnsweredAtRest": (done() & ~_answering).implies(answers().is_(1)),
    "TriesExcludeEachOther": for_all_pairs(
        THREAD, THREAD, lambda x, y: (tries(x) & tries(y)).implies(x.is_(y))
    ),
}
_APART = {
    "TryCompleteAndOnCompleteExcludeEachOther": for_all_pairs(
        THREAD, THREAD, lambda x, y: ~(tries(x) & pc(y).is_("OnComplete"))
    )
}
_NOT_LATE = {
    "NoTryBeginsAfterCompletion": for_all(
        THREAD, lambda x: (~tries(x) & after(tries(x))).implies(~after(done()))
    )
}
_OWED_LOOKS = for_all(
    THREAD,
    lambda x: owed(x).implies(
        trigger(x) & (done() | pc(x).among("IsDone", "Lock", "IsDoneUnderLock", "TryComplete"))
    ),
)


def instance(
    *triggers: str,
    holders: tuple[str, ...] = (),
    raises: tuple[str, ...] = (),
    expires: bool = True,
) -> Instance:
    """Return an instance with some threads; the predicate needs two events."""
    timers = ("timer",) if expires else ()
    return Instance(
        elements={THREAD: (*triggers, *holders, *timers)},
        rigid={
            trigger: {(name,): True for name in triggers},
            holder: {(name,): True for name in holders},
            timer: {(name,): True for name in timers},
            raising: {(name,): True for name in raises},
            needed: {(): 2},
        },
    )


def _overlap(discipline: str) -> Variant:
    return Variant(
        name=f"{discipline} completes without the lock",
        summary="an expiry completes the operation while a trigger is in try_complete",
        bug="KAFKA-19312",
        system=attempts(discipline),
        action="ForceComplete",
        clause="TryCompleteAndOnCompleteExcludeEachOther",
        more=_APART,
    )


_WITHOUT_LOCK = Variant(
    name="no lock",
    summary="the predicate is tested without the operation's lock",
    bug="KAFKA-385",
    system=attempts("monitor").replaced(step("Lock", at("Lock"), go("TryComplete"))),
    action="Lock",
    clause="TheLockIsHeldInside",
    reached="TriesExcludeEachOther",
)
_EXPIRES_ANYWAY = Variant(
    name="expires anyway",
    summary="on_expiration is called for an operation that a trigger has completed",
    system=attempts("blocking").replaced(
        step(
            "ForceComplete",
            at("ForceComplete"),
            state.to("completed"),
            ender.to(t, ender(t) | ~done()),
            go(if_(done(), if_step(timer(t), "OnExpiration", refused), "OnComplete")),
        )
    ),
    action="ForceComplete",
    clause="WhoeverAnswersCompletedIt",
    reached="ExpiresOnlyIfItCompleted",
)


def _tie(discipline: str) -> Tie:
    return Tie(
        module="MCMaybeTryComplete",
        constants={"Discipline": discipline, "Stubborn": frozenset()},
        fields=(trigger, timer, holder, restless, raising, needed),
        instance=instance("t1", "t2", holders=("h",), raises=("t2",)),
    )


def _proof(discipline: str) -> Proof:
    waits = discipline not in TRYING
    exclusive = discipline == "exclusive"
    bugs = {"monitor": (_WITHOUT_LOCK,), "blocking": (_EXPIRES_ANYWAY,)}.get(discipline, ())
    return Proof(
        name=f"maybe-try-complete-{discipline.replace('_', '-')}",
        summary=f"{discipline}: completed and answered once"
        + (", no event unseen" if waits else "")
        + (", try_complete and on_complete apart" if exclusive else ""),
        case=f'Discipline = "{discipline}"',
        words=WORDS,
        clauses_in=_MODULE,
        models=(f"MCMaybeTryComplete_{discipline}",),
        tie=_tie(discipline),
        system=attempts(discipline),
        clauses={**_clauses(discipline), **({"OwedIsLookedAt": _OWED_LOOKS} if waits else {})},
        promises={**_ONCE, **(_FRESH if waits else {}), **(_APART if exclusive else {})},
        steps=_NOT_LATE if discipline in ("blocking", "exclusive") else {},
        instance=instance("t1", "t2", holders=("h",), raises=("t2",)),
        variants=bugs if exclusive else (*bugs, _overlap(discipline)),
    )


def _will_look(x: Term) -> Term:
    """Say that a trigger will test the predicate, or will leave that to the next lock holder."""
    return any_of(
        pc(x).among("IsDone", "TryLock", "ClearPending", "TryComplete"),
        pc(x).is_("ForceComplete") & trigger(x),
        pc(x).is_("IsDoneAgain") & retry(x),
        pc(x).among("Unlock", "ReadPending") & pending(),
        pc(x).is_("SetPending") & ~pending(),
    )


_SOMEBODY_LOOKS = done() | there_is(THREAD, _will_look)


def _alone(system: System) -> System:
    """Return the system in which no other thread takes the lock, and no predicate raises."""
    alone = for_all(THREAD, lambda x: ~holder(x) & ~raising(x))
    system = system.replaced(without=("Hold", "LetGo", "TryCompleteRaises"))
    return System(
        initial=system.initial,
        actions=system.actions,
        assumed={**system.assumed, "nobody else takes the lock, and no predicate raises": alone},
    )


_FLAG = attempts("try_lock_pending")


def _lost(
    name: str, summary: str, system: System, action: str, bug: str, small: Instance
) -> Variant:
    return Variant(
        name=name,
        summary=summary,
        bug=bug,
        system=system,
        action=action,
        clause="OwedIsWatched",
        reached="NoEventIsUnseenAtRest",
        instance=small,
    )


_THREE = instance("t1", "t2", "t3", expires=False)
_FLAG_PROOF = Proof(
    name="maybe-try-complete-flag",
    summary="try_lock_pending: no event unseen, if nobody else takes the lock and nothing raises",
    case='Discipline = "try_lock_pending"',
    words=WORDS,
    clauses_in=_MODULE,
    models=("MCMaybeTryComplete_try_lock_pending",),
    system=_alone(_FLAG),
    clauses={
        **_clauses("try_lock_pending"),
        "PendingIsWatched": pending().implies(_SOMEBODY_LOOKS),
        "OwedIsWatched": for_all(THREAD, lambda x: owed(x).implies(_SOMEBODY_LOOKS & trigger(x))),
    },
    promises=_FRESH,
    instance=instance("t1", "t2"),
    variants=(
        _lost(
            "gives up",
            "whoever finds the lock taken gives up",
            _alone(_FLAG.replaced(try_lock(won="ClearPending", lost=at_end))),
            "TryLock",
            "KAFKA-6653",
            _THREE,
        ),
        _lost(
            "tries twice",
            "whoever finds the lock taken tries once more, and then gives up",
            _alone(
                _FLAG.replaced(
                    step(
                        "TryLock",
                        at("TryLock"),
                        lock.to(t, lock(t) | ~locked),
                        retry.to(t, locked & ~retry(t)),
                        go(
                            if_(
                                locked,
                                if_step(retry(t), "Done", "TryLock"),
                                "ClearPending",
                            )
                        ),
                    )
                )
            ),
            "TryLock",
            "KAFKA-6653/first-fix",
            _THREE,
        ),
        _lost(
            "a stranger",
            "the lock is held by a thread that knows nothing of the flag",
            _FLAG.replaced(without=("TryCompleteRaises",)),
            "TryLock",
            "KAFKA-8334",
            instance("t1", "t2", holders=("h",), expires=False),
        ),
        _lost(
            "an error",
            "a predicate that raises leaves without a look at the flag",
            _FLAG.replaced(without=("Hold", "LetGo")),
            "TryCompleteRaises",
            "",
            instance("t1", "t2", "t3", raises=("t1",), expires=False),
        ),
        _lost(
            "clears the flag late",
            "the flag is cleared after the predicate was tested",
            _alone(
                _FLAG.replaced(
                    step("ReadPending", at("ReadPending"), pending.to(False), go("IsDoneAgain"))
                )
            ),
            "ReadPending",
            "",
            _THREE,
        ),
    ),
)

PROOFS = (*map(_proof, DISCIPLINES), _FLAG_PROOF)
