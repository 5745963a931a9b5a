"""What BufferPool promises, and why: the clauses of the proof, and the bugs that break them."""

from dataclasses import replace

from wheelproof_spec.base.codec.tables import read_words
from wheelproof_spec.components.buffer_pool.proofs.buffer_pool import (
    LEAVE,
    SYSTEM,
    THREAD,
    accumulated,
    ahead,
    all_bytes,
    asked,
    asleep,
    at,
    client,
    closed,
    closer,
    deadline,
    end_wait,
    enough,
    first,
    free,
    go,
    held,
    interrupter,
    largest,
    limit,
    lock,
    lock_actions,
    locked,
    max_time,
    non_pooled,
    now,
    pc,
    poolable,
    restless,
    size,
    smallest,
    somebody_waits,
    spurious,
    t,
    then,
    thrown,
    told,
    unlucky,
    victim,
    waits,
)
from wheelproof_spec.engines.prove.system import Instance, Proof, System, Tables, Tie, Variant
from wheelproof_spec.engines.prove.terms import (
    FALSE,
    Change,
    Term,
    after,
    all_of,
    for_all,
    for_all_pairs,
    there_is,
    total,
)
from wheelproof_spec.engines.tlc.states.values import Value, make_function

_WAITING = ("Await", "Asleep", "Relock", "EndWait")
_LOCKED = ("Await", "EndWait", "Signal", "CloseSignal", "Unlock")
_HOLDING = ("Make", "Refund", "Deallocate")

_HELD, _ACCUMULATED = total(THREAD, held), total(THREAD, accumulated)


def _served(x: Term) -> Term:
    """Say that a thread is first, and that what is there is enough for it."""
    return first(x) & enough(size(x) - accumulated(x))


CLAUSES = {
    "EachThreadIsAtAStepOfItsOwn": for_all(
        THREAD,
        lambda x: all_of(
            client(x).implies(
                pc(x).among("ReadClock", "Lock", *_WAITING, *_HOLDING, "Signal", "Unlock", "Done")
            ),
            closer(x).implies(pc(x).among("CloseLock", "CloseSignal", "Unlock", "Done")),
            interrupter(x).implies(pc(x).among("Interrupt", "Done")),
        ),
    ),
    "TheLockHasOneHolder": for_all_pairs(
        THREAD, THREAD, lambda x, y: (lock(x) & lock(y)).implies(x.is_(y))
    ),
    "TheLockIsHeldInside": for_all(THREAD, lambda x: lock(x).is_(pc(x).among(*_LOCKED))),
    "OnlyThoseWhoWaitAreInTheQueue": for_all(
        THREAD, lambda x: waits(x).is_(pc(x).among(*_WAITING))
    ),
    "OnlyTheQueueIsOrdered": for_all_pairs(
        THREAD, THREAD, lambda x, y: ahead(x, y).implies(waits(x) & waits(y) & ~ahead(y, x))
    ),
    "OneOfTwoIsAhead": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: (waits(x) & waits(y)).implies(x.is_(y) | ahead(x, y) | ahead(y, x)),
    ),
    "AheadOfThoseBehind": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: for_all(THREAD, lambda z: (ahead(x, y) & ahead(y, z)).implies(ahead(x, z))),
    ),
    "NothingIsNegative": all_of(
        non_pooled() >= 0,
        free() >= 0,
        for_all(THREAD, lambda x: (held(x) >= 0) & (accumulated(x) >= 0)),
    ),
    "SizesAreInBounds": for_all(
        THREAD,
        lambda x: client(x).implies(
            all_of(size(x) > 0, size(x) <= all_bytes(), accumulated(x) < size(x))
        ),
    ),
    "EveryByteIsSomewhere": (non_pooled() + free() * poolable() + _HELD + _ACCUMULATED).is_(
        all_bytes()
    ),
    "OnlyTheFirstHasAPart": for_all(THREAD, lambda x: (accumulated(x) > 0).implies(first(x))),
    "WhoeverUsesMemoryHoldsIt": for_all(
        THREAD,
        lambda x: all_of(
            (held(x) > 0).is_(client(x) & (pc(x).among(*_HOLDING) | ~then(x).is_("End"))),
            then(x).is_("End") | (client(x) & pc(x).among("Signal", "Unlock")),
        ),
    ),
    "OnlyWhoeverWaitsSleeps": for_all(THREAD, lambda x: asleep(x).implies(pc(x).is_("Asleep"))),
    "WhoeverCouldBeServedIsAboutToBeTold": for_all(
        THREAD,
        lambda x: (_served(x) & (asleep(x) | pc(x).is_("Await"))).implies(
            there_is(THREAD, lambda y: pc(y).is_("Signal"))
        ),
    ),
    "OnlyCloseTells": for_all_pairs(
        THREAD, THREAD, lambda x, y: told(x, y).implies(closer(x) & ~pc(x).is_("CloseLock"))
    ),
    "CloseIsAboutToTellWhoeverSleeps": for_all(
        THREAD,
        lambda x: (closed() & (asleep(x) | pc(x).is_("Await"))).implies(
            asleep(x) & there_is(THREAD, lambda y: pc(y).is_("CloseSignal") & ~told(y, x))
        ),
    ),
    "CloseBeganByClosing": for_all(THREAD, lambda x: pc(x).is_("CloseSignal").implies(closed())),
    "TheDeadlineStays": for_all(
        THREAD,
        lambda x: (
            pc(x)
            .among("Lock", *_WAITING)
            .implies(~client(x) | deadline(x).is_(asked(x) + limit(x)))
        ),
    ),
}

PROMISES = {
    "MutualExclusion": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: (pc(x).among(*_LOCKED) & pc(y).among(*_LOCKED)).implies(x.is_(y)),
    ),
    "NoByteIsLostOrMade": (non_pooled() + free() * poolable() + _HELD + _ACCUMULATED).is_(
        all_bytes()
    )
    & (non_pooled() >= 0)
    & (non_pooled() <= all_bytes()),
    "NoWakeUpIsLost": for_all(THREAD, lambda x: (~locked & _served(x)).implies(~asleep(x))),
    "ClosedPoolLetsNobodySleep": (closed() & ~locked).implies(
        for_all(THREAD, lambda x: ~asleep(x))
    ),
}

STEPS = {
    "MemoryGoesToTheLongestWaiting": for_all(
        THREAD,
        lambda x: (held(x).is_(0) & (after(held(x)) > 0)).implies(~somebody_waits | first(x)),
    ),
    "NobodyOvertakes": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: (ahead(x, y) & after(waits(x)) & after(waits(y))).implies(after(ahead(x, y))),
    ),
    "NothingIsLentAfterClose": for_all(
        THREAD, lambda x: (closed() & held(x).is_(0)).implies(after(held(x)).is_(0))
    ),
    "NobodyWaitsAgainAfterTheLimit": for_all(
        THREAD,
        lambda x: (pc(x).is_("EndWait") & after(pc(x)).is_("Await")).implies(
            now() < asked(x) + limit(x)
        ),
    ),
}


def _instance(
    sizes: dict[str, int],
    *,
    bytes_: int,
    limits: dict[str, int] | None = None,
    again: tuple[str, ...] = (),
    unlucky_ones: tuple[str, ...] = (),
    closers: tuple[str, ...] = (),
    interrupted: str = "",
    wakes: bool = False,
    time: int = 0,
) -> Instance:
    """Return clients that ask for one size each, of a pool whose buffers have one byte."""
    clients = tuple(sizes)
    interrupters = ("i1",) if interrupted else ()
    by_size: dict[tuple[str, ...], bool | int] = {(name,): number for name, number in sizes.items()}
    limits = dict.fromkeys(clients, 1000) | (limits or {})
    return Instance(
        elements={THREAD: (*clients, *closers, *interrupters)},
        rigid={
            client: {(name,): True for name in clients},
            closer: {(name,): True for name in closers},
            interrupter: {(name,): True for name in interrupters},
            restless: {(name,): True for name in again},
            unlucky: {(name,): True for name in unlucky_ones},
            victim: {("i1", interrupted): True},
            spurious: {(): wakes},
            limit: {(name,): number for name, number in limits.items()},
            smallest: by_size,
            largest: by_size,
            all_bytes: {(): bytes_},
            poolable: {(): 1},
            max_time: {(): time},
        },
        numbers=tuple(range(bytes_ + 1)),
    )


def _hidden(tables: Tables) -> dict[str, Value]:
    """Return the queue as a sequence, and how many waiters each closer has told."""
    kinds = {field: tables(field) for field in (client, closer, waits, ahead, told)}
    queue = [name for (name,), is_in in kinds[waits].items() if is_in]
    queue.sort(key=lambda name: sum(bool(kinds[ahead][other, name]) for other in queue))
    return {
        "waiters": tuple(queue),
        "round": make_function((name, 1) for (name,), is_one in kinds[client].items() if is_one),
        "called": make_function(
            (name, sum(bool(yes) for (one, _), yes in kinds[told].items() if one == name))
            for (name,), is_one in kinds[closer].items()
            if is_one
        ),
    }


_TIED = _instance(
    {"a": 2, "l": 1},
    bytes_=2,
    limits={"l": 1},
    unlucky_ones=("l",),
    closers=("c",),
    interrupted="a",
    wakes=True,
    time=1,
)
TIE = Tie(
    module="MCBufferPool",
    constants={"Program": make_function([("a", (2,)), ("l", (1,))])},
    overrides={"Later": "MCLater"},
    fields=(
        client,
        closer,
        interrupter,
        restless,
        unlucky,
        victim,
        spurious,
        limit,
        all_bytes,
        poolable,
        max_time,
    ),
    instance=_TIED,
    hidden=_hidden,
)


def _changed(names: tuple[str, ...], *changes: Change, without: tuple[Change, ...] = ()) -> System:
    """Return the system in which some actions make these changes, and not those."""
    new = {change.field for change in changes}
    return SYSTEM.replaced(
        *(
            replace(
                one,
                changes=(
                    *(
                        each
                        for each in one.changes
                        if each not in without and each.field not in new
                    ),
                    *changes,
                ),
            )
            for one in SYSTEM.actions
            if one.name in names
        )
    )


_LEAVING = ("EndWait (gives up)", "EndWait (late)", "EndWait (behind, late)")
_LATE = _instance({"a": 1, "l": 2}, bytes_=2, limits={"l": 1}, time=1)
_THREE = _instance({"a": 1, "b": 1, "d": 1}, bytes_=1, interrupted="d")

VARIANTS = (
    Variant(
        name="barging",
        summary="a newcomer takes memory though somebody waits",
        bug="barging",
        system=SYSTEM.replaced(*lock_actions(enough(size(t)))),
        action="Lock (takes)",
        clause="MemoryGoesToTheLongestWaiting",
        instance=_instance({"a": 1, "b": 2, "d": 1}, bytes_=2),
    ),
    Variant(
        name="anyone takes",
        summary="whoever wakes up takes memory, for whatever reason it woke up",
        bug="anyone-takes",
        system=SYSTEM.replaced(*end_wait(at("EndWait") & ~thrown(t) & ~closed(), FALSE)),
        action="EndWait (takes)",
        clause="MemoryGoesToTheLongestWaiting",
        instance=_instance({"a": 1, "b": 2, "d": 1}, bytes_=2, wakes=True),
    ),
    Variant(
        name="stays in the queue",
        summary="whoever gives up stays in the queue",
        bug="KAFKA-3651",
        system=_changed(_LEAVING, without=LEAVE),
        action="EndWait (late)",
        clause="OnlyThoseWhoWaitAreInTheQueue",
        instance=_LATE,
    ),
    Variant(
        name="no give-back",
        summary="whoever gives up keeps the part that it has got together",
        bug="KAFKA-4840/no-give-back",
        system=_changed(("EndWait (late)",), non_pooled.to(0)),
        action="EndWait (late)",
        clause="EveryByteIsSomewhere",
        instance=_LATE,
    ),
    Variant(
        name="no hand-on",
        summary="whoever gives up does not hand its signal on",
        bug="KAFKA-4840/no-hand-on",
        system=_changed(_LEAVING, go("Unlock")),
        action="EndWait (gives up)",
        clause="WhoeverCouldBeServedIsAboutToBeTold",
        reached="NoWakeUpIsLost",
        instance=_THREE,
    ),
    Variant(
        name="no refund",
        summary="a reservation whose memory cannot be allocated is forgotten",
        bug="KAFKA-4840/no-refund",
        system=_changed(("MakeFails",), held.to(t, 0), go("Done")),
        action="MakeFails",
        clause="EveryByteIsSomewhere",
        instance=_instance({"a": 1}, bytes_=1, unlucky_ones=("a",)),
    ),
    Variant(
        name="given back twice",
        summary="memory that comes back is counted twice",
        bug="given-back-twice",
        system=_changed(
            ("Deallocate",), free.to(free() + 1), non_pooled.to(non_pooled() + held(t))
        ),
        action="Deallocate",
        clause="EveryByteIsSomewhere",
        instance=_instance({"a": 1}, bytes_=1),
    ),
    Variant(
        name="returned in silence",
        summary="memory that comes back is announced to nobody",
        system=_changed(("Deallocate",), go("Unlock")),
        action="Deallocate",
        clause="WhoeverCouldBeServedIsAboutToBeTold",
        reached="NoWakeUpIsLost",
        instance=_instance({"a": 1, "b": 1}, bytes_=1),
    ),
)

PROOFS = (
    Proof(
        name="buffer-pool",
        summary="no byte is lost or made, first come is first served, no wake-up is lost",
        words=read_words(__file__, "words.toml", "buffer_pool"),
        clauses_in="producer/models/BufferPoolProof",
        models=("MCBufferPool_smoke", "MCBufferPool_reuse"),
        tie=TIE,
        system=SYSTEM,
        clauses=CLAUSES,
        promises=PROMISES,
        steps=STEPS,
        instance=_instance(
            {"a": 1, "b": 1, "l": 1},
            bytes_=1,
            limits={"l": 1},
            again=("a",),
            wakes=True,
            time=1,
        ),
        more_instances=(_TIED,),
        variants=VARIANTS,
    ),
)
