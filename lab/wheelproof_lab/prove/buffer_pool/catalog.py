"""The proof of the buffer pool.

The actions are derived from BufferPool.tla, with an end of time as MCBufferPool has it, the clauses
from BufferPoolProof.tla, the defects from the module of the known bugs.
"""

from collections.abc import Mapping
from functools import cache

from wheelproof_lab.prove.system import Instance, Listed, Proof, Variant
from wheelproof_lab.prove.terms import Sort
from wheelproof_lab.prove.text.derive import Constant, Derived, Source
from wheelproof_lab.prove.text.sany import parsed
from wheelproof_lab.prove.text.syntax import Module

MODULE = "producer/models/BufferPoolProof"
WITH_AN_END = "producer/models/MCBufferPool"
"""The module of the clauses, and the one that extends it and says when time ends."""
BUGS = "bugs/producer/MCBufferPool_bugs"
SORTS = {"Threads": Sort(name="Thread", tla="Threads")}

_CLAUSES = (
    "EachThreadIsAtAStepOfItsOwn", "TheLockHasOneHolder", "TheLockIsHeldInside",
    "OnlyThoseWhoWaitAreInTheQueue", "NothingIsNegative", "SizesAreInBounds",
    "EveryByteIsSomewhere", "OnlyTheFirstHasAPart", "WhoeverUsesMemoryHoldsIt",
    "NobodyHasMoreOrLess", "OnlyAClientGoesOn", "OnlyWhoeverWaitsSleeps",
    "AnInterruptionEndsAWait", "WhoeverCouldBeServedIsAboutToBeTold",
    "NobodyIsToldBeforeTheClose", "CloseIsAboutToTellWhoeverSleeps", "CloseBeganByClosing",
    "TheDeadlineStays",
)  # fmt: skip
_PROMISES = (
    "MutualExclusion", "NoByteIsLostOrMade", "NoWakeUpIsLost", "WaitersAreLiveThreads",
    "OnlyTheFirstAccumulates", "MemoryIsHeldByWhoeverUsesIt", "ClosedPoolLetsNobodySleep",
    "TotalWaitIsBounded", "CallsLeaveNothingBehind",
)  # fmt: skip
_STEPS = (
    "MemoryGoesToTheLongestWaiting", "NobodyOvertakes", "AFreeBufferIsReused",
    "AFailedAllocationGivesBack", "TheFirstIsToldOfARefund", "AReturnIsKeptAndTold",
    "WhoeverFindsTooLittleGivesTheLockUp", "NothingIsLentAfterClose",
    "NobodyWaitsAgainAfterTheLimit", "NobodyLeavesWithoutAReason", "NobodyWakesForNoReason",
)  # fmt: skip
_LOCK = ("EachThreadIsAtAStepOfItsOwn", "TheLockHasOneHolder", "TheLockIsHeldInside")
_HOLDING = ("NothingIsNegative", "WhoeverUsesMemoryHoldsIt", "OnlyAClientGoesOn")
_QUEUE = ("OnlyThoseWhoWaitAreInTheQueue", "OnlyWhoeverWaitsSleeps")
_BY: Mapping[str, tuple[str, ...]] = {
    "EachThreadIsAtAStepOfItsOwn": ("OnlyAClientGoesOn",),
    "TheLockIsHeldInside": _LOCK[:2],
    "OnlyThoseWhoWaitAreInTheQueue": _LOCK[:1],
    "NothingIsNegative": ("SizesAreInBounds",),
    "SizesAreInBounds": ("NothingIsNegative", "OnlyTheFirstHasAPart", *_QUEUE[:1]),
    "EveryByteIsSomewhere": _HOLDING,
    "OnlyTheFirstHasAPart": ("NothingIsNegative", "SizesAreInBounds", *_QUEUE[:1]),
    "WhoeverUsesMemoryHoldsIt": (*_HOLDING, "SizesAreInBounds", _LOCK[0]),
    "NobodyHasMoreOrLess": _HOLDING,
    "WhoeverCouldBeServedIsAboutToBeTold": (
        *_LOCK, *_QUEUE, "NothingIsNegative", "SizesAreInBounds", "OnlyTheFirstHasAPart",
    ),
    "CloseIsAboutToTellWhoeverSleeps": (
        *_LOCK, *_QUEUE, "NobodyIsToldBeforeTheClose", "CloseBeganByClosing",
    ),
    "MemoryGoesToTheLongestWaiting": _HOLDING,
    "AFreeBufferIsReused": _HOLDING,
    "AFailedAllocationGivesBack": _LOCK,
    "AReturnIsKeptAndTold": (*_HOLDING, "NobodyHasMoreOrLess"),
    "WhoeverFindsTooLittleGivesTheLockUp": _LOCK,
    "NothingIsLentAfterClose": _HOLDING,
    "NobodyWaitsAgainAfterTheLimit": ("TheDeadlineStays",),
    "NobodyLeavesWithoutAReason": ("TheDeadlineStays", "SizesAreInBounds", *_QUEUE[:1]),
}  # fmt: skip
"""The clauses by which a clause is kept, or a step allowed: hints that save the solvers time."""

_NAME = "buffer-pool"
_SUMMARY = "no byte is lost or made, first come is first served, no wake-up is lost"


def source(module: Module, **replaced: str) -> Source:
    """Return what is derived of a module with BufferPool's text and an end of time."""
    return Source(module=module, sorts=SORTS, replaced={"Later": "MCLater", **replaced})


@cache
def derived(**replaced: str) -> Derived:
    """Return the module's system; what is `replaced` is in the module of bugs."""
    return Derived(source(parsed(BUGS if replaced else WITH_AN_END), **replaced))


def instance(
    sizes: Mapping[str, tuple[int, ...]],
    *,
    total: int,
    poolable: int = 1,
    ends: int = 0,
    limits: Mapping[str, int] | None = None,
    **others: Constant,
) -> Instance:
    """Return an instance with a few clients, by the sizes that each asks for."""
    nobody: dict[str, str] = {}
    known: dict[str, Constant] = {"Closers": (), "Interrupters": (), "Victim": nobody, **others}
    threads = (*sizes, *_names(known["Closers"]), *_names(known["Interrupters"]))
    limit = dict.fromkeys(sizes, 1000) | dict(limits or {})
    constants: dict[str, Constant] = {
        **known, "Clients": tuple(sizes), "Program": dict(sizes), "Limit": limit,
        "Total": total, "Poolable": poolable, "MaxTime": ends,
    }  # fmt: skip
    numbers = range(-total - 1, max(total, *map(len, sizes.values())) + 2)
    return derived().instance({"Threads": threads}, constants, numbers)


def _names(value: Constant) -> tuple[str, ...]:
    return () if isinstance(value, int) else tuple(value)


SMALL = {"a": (2,), "l": (1,)}


def small() -> Instance:
    """Return the instance of MCBufferPool_smoke."""
    return instance(
        SMALL, total=2, ends=1, limits={"l": 1}, Closers=("c",), Interrupters=("i1",),
        Victim={"i1": "a"}, Unlucky=("l",), SpuriousWakeUps=True,
    )  # fmt: skip


def _variant(
    name: str, summary: str, bug: str, action: str, clause: str, where: Instance, reached: str = "",
    **replaced: str,
) -> Variant:  # fmt: skip
    return Variant(
        name=name,
        summary=summary,
        bug=bug,
        system=derived(**replaced).system,
        action=action,
        clause=clause,
        reached=reached,
        instance=where,
    )


def _variants() -> tuple[Variant, ...]:
    three = {"a": (1,), "b": (2,), "d": (1,)}
    late = instance({"a": (1,), "l": (2,)}, total=2, ends=1, limits={"l": 1})
    pair, alone = {"a": (1,), "b": (1,)}, {"a": (1,)}
    told = "WhoeverCouldBeServedIsAboutToBeTold"
    interrupted = instance(
        {**pair, "d": (1,)}, total=1, Interrupters=("i1",), Victim={"i1": "d"}
    )  # fmt: skip
    return (
        _variant(
            "barging", "a newcomer takes memory though somebody waits", "barging", "Lock",
            "MemoryGoesToTheLongestWaiting", instance(three, total=2),
            MayTakeAtOnce="TakeThoughSomebodyWaits",
        ),
        _variant(
            "anyone takes", "whoever wakes up takes memory, for whatever reason it woke up",
            "anyone-takes", "EndWait", "MemoryGoesToTheLongestWaiting",
            instance(three, total=2, SpuriousWakeUps=True), IsNext="EverybodyIsNext",
        ),
        _variant(
            "stays in the queue", "whoever gives up stays in the queue", "KAFKA-3651", "EndWait",
            "OnlyThoseWhoWaitAreInTheQueue", late, LeaveWithout="StayInTheQueue",
        ),
        _variant(
            "no give-back", "whoever gives up keeps the part that it has got together",
            "KAFKA-4840/no-give-back", "EndWait", "EveryByteIsSomewhere", late,
            LeaveWithout="LeaveWithPart",
        ),
        _variant(
            "no hand-on", "whoever gives up does not hand its signal on", "KAFKA-4840/no-hand-on",
            "EndWait", told, interrupted, "NoWakeUpIsLost", LeaveWithout="LeaveInSilence",
        ),
        _variant(
            "no refund", "a reservation whose memory cannot be allocated is forgotten",
            "KAFKA-4840/no-refund", "MakeFails", "EveryByteIsSomewhere",
            instance(alone, total=1, Unlucky=("a",)), MakeFails="ForgetTheReservation",
        ),
        _variant(
            "given back twice", "memory that comes back is counted twice", "given-back-twice",
            "Deallocate", "EveryByteIsSomewhere", instance(alone, total=1),
            Deallocate="ReturnTwice",
        ),
        _variant(
            "returned in silence", "memory that comes back is announced to nobody", "",
            "Deallocate", told, instance(pair, total=1), "NoWakeUpIsLost",
            SignalFirst="SignalNobody",
        ),
    )  # fmt: skip


def _proof() -> Proof:
    system = derived()
    return Proof(
        name=_NAME,
        summary=_SUMMARY,
        clauses_in=MODULE,
        models=("MCBufferPool_smoke", "MCBufferPool_reuse"),
        system=system.system,
        clauses={name: system.clause(name) for name in _CLAUSES},
        promises={name: system.clause(name) for name in _PROMISES},
        steps={name: system.step(name) for name in _STEPS},
        words={name: system.word(name) for name in (*_CLAUSES, *_PROMISES, *_STEPS)},
        by=_BY,
        instance=small(),
        is_derived=True,
        left_out=system.left_out,
        variants=_variants(),
    )


PROOFS = (Listed(name=_NAME, summary=_SUMMARY, clauses_in=MODULE, make=cache(_proof)),)
