"""That an entry runs once or is cancelled, whoever moves it: the clauses and their bugs."""

from dataclasses import replace

from wheelproof_spec.base.codec.tables import read_words
from wheelproof_spec.components.timer.proofs.entry_migration import (
    EXPIRES,
    NODE,
    SYSTEM,
    TASK,
    THREAD,
    adder,
    at,
    back,
    below,
    bound,
    bucket,
    bucket_of,
    canceller,
    e,
    entry,
    entry_of,
    flusher,
    flushing,
    go,
    holder,
    is_bound,
    mover,
    next_,
    pc,
    replaced,
    step,
    submissions,
    t,
    task_of,
    victim,
    withdrawn,
)
from wheelproof_spec.engines.prove.system import Instance, Proof, Tables, Tie, Variant
from wheelproof_spec.engines.prove.terms import (
    Field,
    Sort,
    Term,
    after,
    all_of,
    for_all,
    for_all_pairs,
    there_is,
)
from wheelproof_spec.engines.tlc.states.values import ModelValue, Value, make_function

_NONE, _EXPIRED = ModelValue(name="None"), ModelValue(name="Expired")


def instance(
    *,
    adds: dict[str, tuple[str, str]],
    moves: dict[str, tuple[str, str]] | None = None,
    cancels: tuple[str, ...] = (),
    flushes: tuple[str, ...] = ("f",),
) -> Instance:
    """Return threads that add, move and cancel entries of one task, in an upper and a lower bucket.

    `adds` and `moves` have the entry and the bucket of each thread, which may be Expired.
    """
    linkers = {**adds, **(moves or {})}
    entries = tuple(dict.fromkeys(name for name, _ in linkers.values()))
    places = {thread: place for thread, (_, place) in linkers.items() if place != "Expired"}
    return Instance(
        elements={
            THREAD: (*linkers, *cancels, *flushes),
            NODE: (*entries, "upper", "lower"),
            TASK: ("k1",),
        },
        rigid={
            entry: {(name,): True for name in entries},
            bucket: {("upper",): True, ("lower",): True},
            adder: {(name,): True for name in adds},
            mover: {(name,): True for name in moves or {}},
            canceller: {(name,): True for name in cancels},
            flusher: {(name,): True for name in flushes},
            task_of: {(name, "k1"): True for name in entries},
            entry_of: {(thread, name): True for thread, (name, _) in linkers.items()},
            bucket_of: dict.fromkeys(places.items(), True),
            below: {("upper", "lower"): True},
            victim: {(name, "k1"): True for name in cancels},
        },
    )


def _hidden(tables: Tables) -> dict[str, Value]:
    return {
        "back": make_function(
            (name, _NONE if step == "None" else str(step)) for (name,), step in tables(back).items()
        )
    }


_TIED = instance(adds={"a1": ("e1", "upper")}, moves={"m1": ("e1", "lower")}, cancels=("c1",))
TIE = Tie(
    module="MCEntryMigration",
    constants={
        "Tasks": frozenset({"k1"}),
        "Below": make_function([("upper", "lower"), ("lower", _EXPIRED)]),
        "BucketOf": make_function([("a1", "upper"), ("m1", "lower")]),
        "Expired": _EXPIRED,
    },
    fields=(entry, bucket, adder, mover, canceller, flusher, task_of, entry_of, victim),
    instance=_TIED,
    hidden=_hidden,
)


def _unique(field: Field, x: Term, y: Term, z: Term) -> Term:
    return (field(x, y) & field(x, z)).implies(y.is_(z))


_BINDS = ("BindSwap", "BindUnlock")
_CANCELS = ("CancelRead", "CancelUnbind", "CancelUnlock")
_ADDS = (
    "AddLockList", "AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry",
    "AddUnlockList",
)  # fmt: skip
_REMOVES = (
    "RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear",
    "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList",
)  # fmt: skip


def _of_one_entry(field: Field, sort: Sort) -> Term:
    return for_all(sort, lambda x: for_all_pairs(NODE, NODE, lambda y, z: _unique(field, x, y, z)))


CLAUSES = {
    "ATaskIsBoundToOneEntry": _of_one_entry(bound, TASK),
    "AThreadWorksOnOneEntry": _of_one_entry(at, THREAD),
    "BoundToAnEntryOfItsOwn": for_all_pairs(
        TASK, NODE, lambda x, y: bound(x, y).implies(task_of(y, x))
    ),
    "WhatIsBoundHasNotRun": for_all(
        NODE,
        lambda x: is_bound(x).implies(submissions(x).is_(0) & ~withdrawn(x) & ~replaced(x)),
    ),
    "AnEntryThatIsSubmittedWasClaimed": for_all_pairs(
        THREAD,
        NODE,
        lambda x, y: (pc(x).is_("Submit") & at(x, y)).implies(
            all_of(submissions(y).is_(0), ~withdrawn(y), ~replaced(y), ~is_bound(y))
        ),
    ),
    "OneThreadSubmitsAnEntry": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: for_all(
            NODE,
            lambda z: all_of(pc(x).is_("Submit"), pc(y).is_("Submit"), at(x, z), at(y, z)).implies(
                x.is_(y)
            ),
        ),
    ),
    "WhatACancelPreventedDoesNotRun": for_all_pairs(
        THREAD,
        NODE,
        lambda x, y: (pc(x).is_("CancelUnlock") & at(x, y)).implies(
            submissions(y).is_(0)
            & ~is_bound(y)
            & ~there_is(THREAD, lambda z: pc(z).is_("Submit") & at(z, y))
        ),
    ),
    "SubmittedOnce": for_all(
        NODE,
        lambda x: all_of(
            submissions(x) >= 0,
            submissions(x) <= 1,
            (withdrawn(x) | replaced(x)).implies(submissions(x).is_(0)),
        ),
    ),
    "AnAdderBindsANewEntry": for_all_pairs(
        THREAD,
        NODE,
        lambda x, y: (adder(x) & entry_of(x, y) & pc(x).among("BindLock", "BindSwap")).implies(
            all_of(
                ~is_bound(y),
                submissions(y).is_(0),
                ~withdrawn(y),
                ~replaced(y),
                for_all(
                    THREAD,
                    lambda z: at(z, y).implies(~pc(z).among("Submit", "CancelUnlock")),
                ),
            )
        ),
    ),
    "ANodeHasOneNeighbour": _of_one_entry(next_, NODE),
    "AFlusherHasOneBucket": _of_one_entry(flushing, THREAD)
    & for_all_pairs(THREAD, NODE, lambda x, y: flushing(x, y).implies(flusher(x)))
    & for_all(
        THREAD,
        lambda x: flusher(x).implies(
            pc(x).is_("Poll").is_(~there_is(NODE, lambda y: flushing(x, y)))
        ),
    ),
    "AThreadRemovesFromOneBucket": _of_one_entry(holder, THREAD),
    "ACancellerHasFoundItsEntry": for_all_pairs(
        THREAD,
        NODE,
        lambda x, y: (canceller(x) & pc(x).among("CancelLock", "CancelRead", "Done")).implies(
            ~at(x, y)
        ),
    ),
    "EachThreadIsAtAStepOfItsOwn": for_all(
        THREAD,
        lambda x: all_of(
            canceller(x).implies(pc(x).among("CancelLock", *_CANCELS, *_REMOVES, "Done")),
            mover(x).implies(pc(x).among(*_ADDS, *_REMOVES, "Done")),
            pc(x).among("BindLock", *_BINDS).implies(adder(x)),
            pc(x).among("CancelLock", *_CANCELS).implies(canceller(x)),
            pc(x).among("Poll", "FlushUnlock").implies(flusher(x)),
            flusher(x).implies(~pc(x).is_("Done")),
            back(x).is_("BindUnlock").implies(adder(x)),
            back(x).is_("CancelUnbind").implies(canceller(x)),
            (canceller(x) & pc(x).among(*_REMOVES)).implies(back(x).is_("CancelUnbind")),
            pc(x)
            .among(*_REMOVES)
            .implies(
                ~back(x).is_("None")
                | (
                    pc(x).among(*_REMOVES[2:-1])
                    & there_is(NODE, lambda y: holder(x, y) & flushing(x, y))
                )
            ),
        ),
    ),
}
PROMISES = {
    "SubmittedAtMostOnce": for_all(NODE, lambda x: submissions(x) <= 1),
    "CancelledOrSubmittedNotBoth": for_all(
        NODE, lambda x: withdrawn(x).implies(submissions(x).is_(0))
    ),
    "OnlyTheNewestAddFires": for_all(NODE, lambda x: replaced(x).implies(submissions(x).is_(0))),
}
STEPS = {
    "NothingSubmittedAfterASuccessfulCancel": for_all(
        NODE, lambda x: withdrawn(x).implies(after(submissions(x)).is_(submissions(x)))
    )
}
_WITHOUT_CLAIM = SYSTEM.replaced(
    *(
        replace(one, guard=one.guard & ~is_bound(e))
        for one in SYSTEM.actions
        if one.name == "TestCancelled (not linked)"
    ),
    step("TestCancelled (due)", (e,), at(t, e) & is_bound(e) & EXPIRES, go("Submit")),
)
_WITHOUT_TEST = SYSTEM.replaced(
    step("Claim (too late)", (e,), at(t, e) & ~is_bound(e), go("Submit"))
)
VARIANTS = (
    Variant(
        name="tests, then submits",
        summary="a task is cancelled between the test and its submission",
        bug="test-then-submit",
        system=_WITHOUT_CLAIM,
        action="TestCancelled (due)",
        clause="AnEntryThatIsSubmittedWasClaimed",
        reached="NothingSubmittedAfterASuccessfulCancel",
        instance=instance(adds={"a1": ("e1", "Expired")}, cancels=("c1",), flushes=()),
    ),
    Variant(
        name="no test",
        summary="a cancelled entry is submitted when its bucket is flushed",
        bug="KAFKA-2226/no-cancelled-test",
        system=_WITHOUT_TEST,
        action="Claim (too late)",
        clause="AnEntryThatIsSubmittedWasClaimed",
        reached="CancelledOrSubmittedNotBoth",
        instance=instance(adds={"a1": ("e1", "lower")}, cancels=("c1",)),
    ),
)

PROOFS = (
    Proof(
        name="entry-migration",
        summary="an entry is submitted once at most, and never after a cancel that said so",
        words=read_words(__file__, "words.toml", "entry_migration"),
        clauses_in="timer/models/EntryMigrationProof",
        models=("MCEntryMigration_smoke", "MCEntryMigration_movers"),
        tie=TIE,
        system=SYSTEM,
        clauses=CLAUSES,
        promises=PROMISES,
        steps=STEPS,
        instance=_TIED,
        more_instances=(
            instance(adds={"a1": ("e1", "upper"), "a2": ("e2", "lower")}, flushes=()),
            instance(adds={"a1": ("e1", "Expired")}, cancels=("c1",), flushes=()),
        ),
        variants=VARIANTS,
    ),
)
