"""The proofs of MaybeTryComplete, in each discipline: what is proved, of which text.

The actions are derived from MaybeTryComplete.tla, the clauses from MaybeTryCompleteProof.tla, the
defects from the module of the known bugs. What stands here is which of them belong together.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

from wheelproof_lab.prove.system import Instance, Listed, Proof, Variant
from wheelproof_lab.prove.terms import Sort, Term
from wheelproof_lab.prove.text.derive import Derived, Source
from wheelproof_lab.prove.text.sany import parsed

MODULE = "purgatory/models/MaybeTryCompleteProof"
BUGS = "bugs/purgatory/MCMaybeTryComplete_bugs"
DISCIPLINES = ("monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive")
SORTS = {"Threads": Sort(name="Thread", tla="Threads")}
_WAITING = ("monitor", "blocking", "exclusive")

_CLAUSES = (
    "EachThreadIsAtAStepOfItsOwn", "TheLockHasOneHolder", "TheLockIsHeldInside",
    "OneThreadCompletes", "DoneMeansCompletedByAThread", "WhoeverAnswersCompletedIt",
    "TriggersTellNoExpiry", "AnsweredUnlessThatIsUnderWay", "ExpiryIsToldLast", "NoOtherExpiry",
)  # fmt: skip
_ONCE = (
    "CompletesAtMostOnce", "ExpiresOnlyIfItCompleted", "CompletedIsAnsweredAtRest",
    "TriesExcludeEachOther",
)  # fmt: skip
_FRESH = "NoEventIsUnseenAtRest"
_APART = "TryCompleteAndOnCompleteExcludeEachOther"
_NOT_LATE = "NoTryBeginsAfterCompletion"

_WITH_THE_FLAG = ("ClearPending", "SetPending", "ReadPending", "IsDone (IsDoneAgain)")
_UNDER_LOCK = "IsDone (IsDoneUnderLock)"
_FORCED = "IsDone (ForceIsDone)"
NEVER: Mapping[str, tuple[str, ...]] = {
    "monitor": ("TryLock", *_WITH_THE_FLAG, _UNDER_LOCK, _FORCED),
    "try_lock_once": ("Lock", *_WITH_THE_FLAG, _UNDER_LOCK, _FORCED),
    "try_lock_pending": ("Lock", _UNDER_LOCK, _FORCED),
    "blocking": ("TryLock", *_WITH_THE_FLAG, _FORCED),
    "exclusive": ("TryLock", *_WITH_THE_FLAG),
}
"""The actions of the module that a discipline never takes."""


@cache
def derived(
    discipline: str, assuming: tuple[str, ...] = (), replaced: tuple[tuple[str, str], ...] = ()
) -> Derived:
    """Return the module's system in a discipline; what is `replaced` is in the module of bugs."""
    return Derived(
        Source(
            module=parsed(BUGS if replaced else MODULE),
            sorts=SORTS,
            given={"Discipline": discipline},
            assuming=assuming,
            replaced=dict(replaced),
        )
    )


def instance(
    *triggers: str,
    holders: tuple[str, ...] = (),
    raises: tuple[str, ...] = (),
    expires: bool = True,
) -> Instance:
    """Return an instance with some threads; the predicate needs two events."""
    timers = ("timer",) if expires else ()
    return derived("monitor").instance(
        {"Threads": (*triggers, *holders, *timers)},
        {
            "Triggers": triggers,
            "Holders": holders,
            "Timers": timers,
            "Raising": raises,
            "Needed": 2,
        },
    )


def _overlap(discipline: str) -> Variant:
    return Variant(
        name=f"{discipline} completes without the lock",
        summary="an expiry completes the operation while a trigger is in try_complete",
        bug="KAFKA-19312",
        system=derived(discipline).system,
        action="ForceComplete",
        clause=_APART,
        more={_APART: derived(discipline).clause(_APART)},
    )


def _without_lock() -> Variant:
    replaced = (("Lock", "GoWithoutLock"), ("Unlock", "UnlockNothing"))
    return Variant(
        name="no lock",
        summary="the predicate is tested without the operation's lock",
        bug="KAFKA-385",
        system=derived("monitor", replaced=replaced).system,
        action="Lock",
        clause="TheLockIsHeldInside",
        reached="TriesExcludeEachOther",
    )


def _expires_anyway() -> Variant:
    return Variant(
        name="expires anyway",
        summary="on_expiration is called for an operation that a trigger has completed",
        system=derived("blocking", replaced=(("ForceComplete", "ExpireAnyway"),)).system,
        action="ForceComplete",
        clause="WhoeverAnswersCompletedIt",
        reached="ExpiresOnlyIfItCompleted",
    )


_BUGS: Mapping[str, Callable[[], Variant]] = {
    "monitor": _without_lock,
    "blocking": _expires_anyway,
}


def _summary(discipline: str) -> str:
    unseen = ", no event unseen" if discipline in _WAITING else ""
    apart = ", try_complete and on_complete apart" if discipline == "exclusive" else ""
    return f"{discipline}: completed and answered once{unseen}{apart}"


def _proof(discipline: str) -> Proof:
    system = derived(discipline)
    waits, exclusive = discipline in _WAITING, discipline == "exclusive"
    clauses = (*_CLAUSES, *(("OwedIsLookedAt",) if waits else ()))
    promises = (*_ONCE, *((_FRESH,) if waits else ()), *((_APART,) if exclusive else ()))
    steps = (_NOT_LATE,) if discipline in ("blocking", "exclusive") else ()
    own = [_BUGS[discipline]()] if discipline in _BUGS else []
    return Proof(
        name=_name(discipline),
        summary=_summary(discipline),
        clauses_in=MODULE,
        models=(f"MCMaybeTryComplete_{discipline}",),
        system=system.system,
        clauses=_clauses(system, clauses),
        promises=_clauses(system, promises),
        steps={name: system.step(name) for name in steps},
        words=_words(system, (*clauses, *promises, *steps)),
        instance=instance("t1", "t2", holders=("h",), raises=("t2",)),
        variants=(*own, *(() if exclusive else (_overlap(discipline),))),
        never=NEVER[discipline],
        is_derived=True,
        left_out=system.left_out,
    )


def _clauses(system: Derived, names: Iterable[str]) -> Mapping[str, Term]:
    return {name: system.clause(name) for name in names}


def _words(system: Derived, names: Iterable[str]) -> Mapping[str, str]:
    return {name: system.word(name) for name in names}


def _name(discipline: str) -> str:
    return f"maybe-try-complete-{discipline.replace('_', '-')}"


def _lost(
    name: str, summary: str, system: Derived, action: str, bug: str, small: Instance
) -> Variant:
    return Variant(
        name=name,
        summary=summary,
        bug=bug,
        system=system.system,
        action=action,
        clause="OwedIsWatched",
        reached=_FRESH,
        instance=small,
    )


_FLAG = "maybe-try-complete-flag"
_FLAG_SUMMARY = (
    "try_lock_pending: no event unseen, if nobody else takes the lock and nothing raises"
)


def _flag_proof() -> Proof:
    pending = "try_lock_pending"
    system = derived(pending, ("NobodyInterferes",))
    clauses = (*_CLAUSES, "PendingIsWatched", "OwedIsWatched")
    three = instance("t1", "t2", "t3", expires=False)
    return Proof(
        name=_FLAG,
        summary=_FLAG_SUMMARY,
        clauses_in=MODULE,
        models=("MCMaybeTryComplete_try_lock_pending",),
        system=system.system,
        clauses=_clauses(system, clauses),
        promises=_clauses(system, (_FRESH,)),
        words=_words(system, (*clauses, _FRESH)),
        instance=instance("t1", "t2"),
        never=(*NEVER[pending], "Hold", "LetGo", "TryCompleteRaises"),
        is_derived=True,
        left_out=system.left_out,
        variants=(
            _lost(
                "gives up",
                "whoever finds the lock taken gives up",
                derived("try_lock_once"),
                "TryLock",
                "KAFKA-6653",
                three,
            ),
            _lost(
                "tries twice",
                "whoever finds the lock taken tries once more, and then gives up",
                derived("try_lock_once", replaced=(("TryLock", "RetryOnce"),)),
                "TryLock",
                "KAFKA-6653/first-fix",
                three,
            ),
            _lost(
                "a stranger",
                "the lock is held by a thread that knows nothing of the flag",
                derived(pending),
                "TryLock",
                "KAFKA-8334",
                instance("t1", "t2", holders=("h",), expires=False),
            ),
            _lost(
                "an error",
                "a predicate that raises leaves without a look at the flag",
                derived(pending),
                "TryCompleteRaises",
                "",
                instance("t1", "t2", "t3", raises=("t1",), expires=False),
            ),
            _lost(
                "clears the flag late",
                "the flag is cleared after the predicate was tested",
                derived(pending, replaced=(("ReadPending", "ClearAfterwards"),)),
                "ReadPending",
                "",
                three,
            ),
        ),
    )


PROOFS = (
    *(
        Listed(
            name=_name(discipline),
            summary=_summary(discipline),
            clauses_in=MODULE,
            make=cache(partial(_proof, discipline)),
        )
        for discipline in DISCIPLINES
    ),
    Listed(name=_FLAG, summary=_FLAG_SUMMARY, clauses_in=MODULE, make=cache(_flag_proof)),
)
