"""EntryMigration.tla for any number of entries, buckets, tasks and threads.

The actions have the names of the module's. Entries and buckets are nodes, since links lead from
one to the other. What is a function to elements or None there is a relation here.
"""

from collections.abc import Sequence

from wheelproof_spec.engines.prove.system import Action, System, action
from wheelproof_spec.engines.prove.terms import (
    FALSE,
    INT,
    TRUE,
    Change,
    Field,
    Operand,
    Shape,
    Sort,
    Term,
    all_of,
    for_all,
    for_all_pairs,
    if_,
    there_is,
)

THREAD = Sort(name="Thread", tla="Threads")
NODE = Sort(name="Node", tla="Nodes")
TASK = Sort(name="Task", tla="Tasks")
STEP = Sort(
    name="Step",
    words=(
        "BindLock", "BindSwap", "BindUnlock", "TestCancelled", "Claim", "Submit", "AddLockList",
        "AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry", "AddUnlockList",
        "RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear",
        "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList", "CancelLock", "CancelRead",
        "CancelUnbind", "CancelUnlock", "Poll", "FlushUnlock", "Done",
    ),
)  # fmt: skip
BACK = Sort(name="Back", words=("None", "BindUnlock", "AddLockList", "CancelUnbind"))
OUTCOME = Sort(name="Outcome", words=("idle", "submitted", "cancelled"))


def _set(name: str, sort: Sort, *, rigid: bool = False) -> Field:
    return Field(name=name, sorts=(sort,), rigid=rigid, shape=Shape.SET)


def _one(name: str, sort: Sort, of: Sort, *domain: Field, rigid: bool = False) -> Field:
    return Field(name=name, sorts=(sort, of), rigid=rigid, shape=Shape.ONE, domain=domain)


entry = _set("Entries", NODE, rigid=True)
bucket = _set("Buckets", NODE, rigid=True)
adder = _set("Adders", THREAD, rigid=True)
mover = _set("Movers", THREAD, rigid=True)
canceller = _set("Cancellers", THREAD, rigid=True)
flusher = _set("Flushers", THREAD, rigid=True)
task_of = _one("TaskOf", NODE, TASK, entry, rigid=True)
entry_of = _one("EntryOf", THREAD, NODE, adder, mover, rigid=True)
bucket_of = _one("BucketOf", THREAD, NODE, adder, mover, rigid=True)
below = _one("Below", NODE, NODE, bucket, rigid=True)
victim = _one("Victim", THREAD, TASK, canceller, rigid=True)

task_monitor = _one("taskMonitor", TASK, THREAD)
bucket_monitor = _one("bucketMonitor", NODE, THREAD, bucket)
entry_monitor = _one("entryMonitor", NODE, THREAD, entry)
bound = _one("bound", TASK, NODE)
in_list = _one("list", NODE, NODE, entry)
next_ = _one("next", NODE, NODE)
prev = _one("prev", NODE, NODE)
counter = Field(name="counter", result=INT)
pc = Field(name="pc", sorts=(THREAD,), result=STEP)
at = _one("at", THREAD, NODE)
holder = _one("holder", THREAD, NODE)
target = _one("target", THREAD, NODE)
tail = _one("tail", THREAD, NODE)
back = Field(
    name="back",
    sorts=(THREAD,),
    result=BACK,
    shape=Shape.HIDDEN,
    tla='IF back[{0}] = None THEN "None" ELSE back[{0}]',
)
flushing = _one("flushing", THREAD, NODE, flusher)
outcome = Field(name="outcome", sorts=(TASK,), result=OUTCOME)
submissions = Field(name="submissions", sorts=(NODE,), result=INT, domain=(entry,))
withdrawn = _set("withdrawn", NODE)
replaced = _set("replaced", NODE)
doomed = _set("doomed", NODE)

t = THREAD.variable("t")
e, b, m = NODE.variable("e"), NODE.variable("b"), NODE.variable("m")
k = TASK.variable("k")


def is_bound(node: Term) -> Term:
    """Say that an entry is the one that its task is bound to."""
    return there_is(TASK, lambda task: task_of(node, task) & bound(task, node))


def put(field: Field, of: Term, value: Term | None) -> Change:
    """Make the only value of an element another one, or None."""
    if value is None:
        return field.at_all_pairs(lambda x, y: field(x, y) & ~x.is_(of))
    return field.at_all_pairs(lambda x, y: if_(x.is_(of), y.is_(value), field(x, y)))


def has(field: Field, of: Term, sort: Sort = NODE) -> Term:
    """Say that an element has a value."""
    return there_is(sort, lambda value: field(of, value))


def go(to: Operand) -> Change:
    """Send the thread to a step."""
    return pc.to(t, to)


def step(
    name: str, parameters: Sequence[Term], guard: Term, *changes: Change, pc_is: str = ""
) -> Action:
    """Return an action of a thread at the step of the action's name."""
    here = pc(t).is_(pc_is or name.partition(" ")[0])
    return action(name, (t, *parameters), here & guard, *changes)


_at_e = at(t, e)
_empty = there_is(NODE, lambda x: flushing(t, x) & next_(x, x))


def _finish() -> tuple[Change, ...]:
    """Finish: the end of a thread, or the flusher's next entry."""
    return (
        go(
            if_(
                flusher(t),
                if_(_empty, STEP.word("FlushUnlock"), "RemoveLockEntry"),
                "Done",
            )
        ),
        at.at_all_pairs(
            lambda x, y: if_(
                x.is_(t),
                flusher(t) & there_is(NODE, lambda z: flushing(t, z) & next_(z, y) & ~z.is_(y)),
                at(x, y),
            )
        ),
        holder.at_all_pairs(
            lambda x, y: if_(x.is_(t) & flusher(t), flushing(t, y) & ~_empty, holder(x, y))
        ),
    )


_destination = if_(
    flusher(t),
    there_is(NODE, lambda x: flushing(t, x) & below(x, b)),
    bucket_of(t, b),
)
EXPIRES = for_all(
    NODE,
    lambda y: (
        ~if_(flusher(t), there_is(NODE, lambda x: flushing(t, x) & below(x, y)), bucket_of(t, y))
    ),
)
_own_entry = entry_of(t, e) & task_of(e, k)

BINDING = (
    step("BindLock", (e, k), _own_entry & ~has(task_monitor, k, THREAD),
         put(task_monitor, k, t), go("BindSwap")),
    step("BindSwap (first)", (e, k), _own_entry & ~has(bound, k),
         bound.to(k, e, True), go("BindUnlock")),
    step("BindSwap", (e, k, m), _own_entry & bound(k, m),
         put(bound, k, e), go("RemoveReadList"), put(at, t, m), back.to(t, "BindUnlock"),
         replaced.to(m, True)),
    step("BindUnlock", (e, k), _own_entry,
         put(task_monitor, k, None), put(at, t, e), go("TestCancelled")),
)  # fmt: skip

WHEEL = (
    step("TestCancelled", (e, b), _at_e & is_bound(e) & _destination,
         go("RemoveReadList"), put(target, t, b), back.to(t, "AddLockList")),
    step("TestCancelled (not linked)", (e,), _at_e & (~is_bound(e) | EXPIRES), go("Claim")),
    step("Claim", (e, k), _at_e & task_of(e, k) & bound(k, e),
         bound.to(k, e, False), outcome.to(k, "submitted"), go("Submit")),
    step("Claim (too late)", (e,), _at_e & ~is_bound(e), *_finish()),
    step("Submit", (e,), _at_e, submissions.to(e, submissions(e) + 1), *_finish()),
)  # fmt: skip

ADDING = (
    step("AddLockList", (b,), target(t, b) & ~has(bucket_monitor, b, THREAD),
         put(bucket_monitor, b, t), go("AddLockEntry")),
    step("AddLockEntry", (e,), _at_e & ~has(entry_monitor, e, THREAD),
         put(entry_monitor, e, t), go("AddTest")),
    step("AddTest", (e, b, m), _at_e & target(t, b) & ~has(in_list, e) & prev(b, m),
         put(next_, e, b), put(prev, e, m), put(tail, t, m), go("AddLink")),
    step("AddTest (loses)", (e,), _at_e & has(in_list, e), go("AddUnlockEntry")),
    step("AddLink", (e, b, m), _at_e & target(t, b) & tail(t, m),
         put(in_list, e, b), put(next_, m, e), put(prev, b, e), go("AddCount")),
    step("AddCount", (), TRUE, counter.to(counter() + 1), go("AddUnlockEntry")),
    step("AddUnlockEntry", (e,), _at_e, put(entry_monitor, e, None), go("AddUnlockList")),
    step("AddUnlockList (again)", (b,), target(t, b) & ~has(tail, t),
         put(bucket_monitor, b, None), go("RemoveReadList"), back.to(t, "AddLockList")),
    step("AddUnlockList", (b,), target(t, b) & has(tail, t),
         put(bucket_monitor, b, None), put(target, t, None), put(tail, t, None), *_finish()),
)  # fmt: skip

REMOVING = (
    step("RemoveReadList", (e,), _at_e & ~has(in_list, e),
         go(if_(back(t).is_("BindUnlock"), STEP.word("BindUnlock"),
                if_(back(t).is_("AddLockList"), STEP.word("AddLockList"), "CancelUnbind"))),
         back.to(t, "None")),
    step("RemoveReadList (linked)", (e, b), _at_e & in_list(e, b),
         put(holder, t, b), go("RemoveLockList")),
    step("RemoveLockList", (b,), holder(t, b) & ~has(bucket_monitor, b, THREAD),
         put(bucket_monitor, b, t), go("RemoveLockEntry")),
    step("RemoveLockEntry", (e,), _at_e & ~has(entry_monitor, e, THREAD),
         put(entry_monitor, e, t), go("RemoveTest")),
    action("RemoveTest", (t, e, b),
           pc(t).is_("RemoveTest") & _at_e & holder(t, b) & in_list(e, b),
           next_.at_all_pairs(lambda x, y: if_(x.is_(e), FALSE,
                                               if_(prev(e, x), next_(e, y), next_(x, y)))),
           prev.at_all_pairs(lambda x, y: if_(x.is_(e), FALSE,
                                              if_(next_(e, x), prev(e, y), prev(x, y)))),
           go("RemoveClear")),
    step("RemoveTest (elsewhere)", (e, b), _at_e & holder(t, b) & ~in_list(e, b),
         go("RemoveUnlockEntry")),
    step("RemoveClear", (e,), _at_e, put(in_list, e, None), go("RemoveCount")),
    step("RemoveCount", (), TRUE, counter.to(counter() - 1), go("RemoveUnlockEntry")),
    step("RemoveUnlockEntry (flushes)", (e, b), _at_e & holder(t, b) & flushing(t, b),
         put(entry_monitor, e, None), go("TestCancelled"), put(holder, t, None)),
    step("RemoveUnlockEntry", (e, b), _at_e & holder(t, b) & ~flushing(t, b),
         put(entry_monitor, e, None), go("RemoveUnlockList")),
    step("RemoveUnlockList", (b,), holder(t, b),
         put(bucket_monitor, b, None), put(holder, t, None), go("RemoveReadList")),
)  # fmt: skip

CANCELLING = (
    step("CancelLock", (k,), victim(t, k) & ~has(task_monitor, k, THREAD),
         put(task_monitor, k, t), go("CancelRead")),
    step("CancelRead (nothing)", (k,), victim(t, k) & ~has(bound, k), go("CancelUnlock")),
    step("CancelRead", (k, e), victim(t, k) & bound(k, e),
         put(at, t, e), back.to(t, "CancelUnbind"), go("RemoveReadList")),
    step("CancelUnbind", (k, e), victim(t, k) & _at_e & bound(k, e),
         bound.to(k, e, False), outcome.to(k, "cancelled"), go("CancelUnlock")),
    step("CancelUnbind (too late)", (k, e), victim(t, k) & _at_e & ~bound(k, e),
         put(at, t, None), go("CancelUnlock")),
    step("CancelUnlock", (k,), victim(t, k),
         put(task_monitor, k, None), withdrawn.everywhere(lambda x: withdrawn(x) | at(t, x)),
         put(at, t, None), go("Done")),
)  # fmt: skip

FLUSHING = (
    step("FlushLock", (b, e),
         bucket(b) & next_(b, e) & ~e.is_(b) & ~has(bucket_monitor, b, THREAD),
         put(bucket_monitor, b, t), put(flushing, t, b),
         doomed.everywhere(lambda x: doomed(x) | (in_list(x, b) & ~is_bound(x))),
         go("RemoveLockEntry"), put(at, t, e), put(holder, t, b), pc_is="Poll"),
    step("FlushUnlock", (b,), flushing(t, b),
         put(bucket_monitor, b, None), put(flushing, t, None), go("Poll")),
)  # fmt: skip

ASSUMED = {
    "every thread is of one kind": for_all(
        THREAD,
        lambda x: all_of(
            adder(x) | mover(x) | canceller(x) | flusher(x),
            ~(adder(x) & (mover(x) | canceller(x) | flusher(x))),
            ~(mover(x) & (canceller(x) | flusher(x))),
            ~(canceller(x) & flusher(x)),
        ),
    ),
    "an entry has one task, an adder or mover one entry": for_all(
        NODE,
        lambda x: for_all_pairs(
            TASK, TASK, lambda y, z: (task_of(x, y) & task_of(x, z)).implies(y.is_(z))
        ),
    )
    & for_all(
        THREAD,
        lambda x: for_all_pairs(
            NODE, NODE, lambda y, z: (entry_of(x, y) & entry_of(x, z)).implies(y.is_(z))
        ),
    ),
    "no two adders add the same entry": for_all_pairs(
        THREAD,
        THREAD,
        lambda x, y: for_all(
            NODE,
            lambda z: all_of(adder(x), adder(y), entry_of(x, z), entry_of(y, z)).implies(x.is_(y)),
        ),
    ),
    "a canceller has one task": for_all(
        THREAD,
        lambda x: for_all_pairs(
            TASK, TASK, lambda y, z: (victim(x, y) & victim(x, z)).implies(y.is_(z))
        ),
    ),
}

SYSTEM = System(
    initial=(
        *(
            each.all_to(False)
            for each in (
                task_monitor, bucket_monitor, entry_monitor, bound, in_list, holder, tail,
                flushing, withdrawn, replaced, doomed,
            )
        ),
        next_.at_all_pairs(lambda x, y: bucket(x) & x.is_(y)),
        prev.at_all_pairs(lambda x, y: bucket(x) & x.is_(y)),
        counter.to(0),
        pc.everywhere(
            lambda x: if_(
                adder(x),
                STEP.word("BindLock"),
                if_(
                    mover(x),
                    STEP.word("RemoveReadList"),
                    if_(canceller(x), STEP.word("CancelLock"), "Poll"),
                ),
            )
        ),
        at.at_all_pairs(lambda x, y: (adder(x) | mover(x)) & entry_of(x, y)),
        target.at_all_pairs(lambda x, y: mover(x) & bucket_of(x, y)),
        back.everywhere(lambda x: if_(mover(x), BACK.word("AddLockList"), "None")),
        outcome.all_to("idle"),
        submissions.all_to(0),
    ),
    actions=(*BINDING, *WHEEL, *ADDING, *REMOVING, *CANCELLING, *FLUSHING),
    assumed=ASSUMED,
)  # fmt: skip
