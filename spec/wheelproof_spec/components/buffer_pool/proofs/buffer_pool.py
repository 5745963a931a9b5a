"""BufferPool.tla for any number of clients and closers, any sizes, any limits.

The actions have the names of the module's; where one of them branches, each branch is a case of
its own. The queue of waiters is an order: ``ahead(x, y)`` if x came before y. How many buffers are
broken up is a number that meets the rule, which asks for no division.
"""

from wheelproof_spec.engines.prove.system import Action, System, action
from wheelproof_spec.engines.prove.terms import (
    INT,
    Change,
    Field,
    Operand,
    Shape,
    Sort,
    Term,
    all_of,
    any_of,
    for_all,
    if_,
    there_is,
)

THREAD = Sort(name="Thread", tla="Threads")
STEP = Sort(
    name="Step",
    words=(
        "ReadClock", "Lock", "Await", "Asleep", "Relock", "EndWait", "Signal", "CloseSignal",
        "Unlock", "Make", "Refund", "Deallocate", "CloseLock", "Interrupt", "Done",
    ),
)  # fmt: skip
THEN = Sort(name="Then", words=("End", "Make", "Deallocate"))


def _set(name: str, *, rigid: bool = False) -> Field:
    return Field(name=name, sorts=(THREAD,), rigid=rigid, shape=Shape.SET)


client = _set("Clients", rigid=True)
closer = _set("Closers", rigid=True)
interrupter = _set("Interrupters", rigid=True)
restless = _set("Restless", rigid=True)
unlucky = _set("Unlucky", rigid=True)
victim = Field(
    name="Victim",
    sorts=(THREAD, THREAD),
    rigid=True,
    shape=Shape.ONE,
    domain=(interrupter,),
)
spurious = Field(name="SpuriousWakeUps", rigid=True)
limit = Field(name="Limit", sorts=(THREAD,), result=INT, rigid=True, domain=(client,))
all_bytes = Field(name="Total", result=INT, rigid=True)
poolable = Field(name="Poolable", result=INT, rigid=True)
max_time = Field(name="MaxTime", result=INT, rigid=True)
smallest = Field(name="smallest", sorts=(THREAD,), result=INT, rigid=True, shape=Shape.HIDDEN)
largest = Field(name="largest", sorts=(THREAD,), result=INT, rigid=True, shape=Shape.HIDDEN)


def _number(name: str) -> Field:
    return Field(name=name, sorts=(THREAD,), result=INT, domain=(client,))


now = Field(name="now", result=INT)
lock = Field(name="lock", sorts=(THREAD,), shape=Shape.ONE)
closed = Field(name="closed")
non_pooled = Field(name="nonPooled", result=INT)
free = Field(name="free", result=INT)
waits = Field(name="waits", sorts=(THREAD,), shape=Shape.HIDDEN, tla="{0} \\in Range(waiters)")
ahead = Field(
    name="ahead",
    sorts=(THREAD, THREAD),
    shape=Shape.HIDDEN,
    tla="\\E i, j \\in DOMAIN waiters : i < j /\\ waiters[i] = {0} /\\ waiters[j] = {1}",
)
asleep = _set("asleep")
accumulated = _number("accumulated")
held = _number("held")
pc = Field(name="pc", sorts=(THREAD,), result=STEP)
then = Field(name="then", sorts=(THREAD,), result=THEN, domain=(client, closer))
deadline = _number("deadline")
size = Field(
    name="size", sorts=(THREAD,), result=INT, shape=Shape.HIDDEN, domain=(client,), tla="Size({0})"
)
told = Field(
    name="told",
    sorts=(THREAD, THREAD),
    shape=Shape.HIDDEN,
    domain=(closer,),
    tla="\\E i \\in 1..called[{0}] \\cap DOMAIN waiters : waiters[i] = {1}",
)
"""Whom a closer has told: in the module, the first `called` of the queue, while it tells them."""
interrupted = _set("interrupted")
thrown = _set("thrown")
asked = _number("asked")

t, x = THREAD.variable("t"), THREAD.variable("x")
n, dropped = INT.variable("n"), INT.variable("dropped")

locked = there_is(THREAD, lock)
somebody_waits = there_is(THREAD, waits)


def first(of: Term) -> Term:
    """Say that a thread is at the head of the queue."""
    return waits(of) & for_all(THREAD, lambda y: waits(y).implies(y.is_(of) | ahead(of, y)))


def enough(wanted: Term) -> Term:
    """HasEnough: what is not lent is enough."""
    return non_pooled() + free() * poolable() >= wanted


def at(*steps: str) -> Term:
    """Say that the thread is at one of these steps."""
    return pc(t).among(*steps)


def go(to: Operand) -> Change:
    """Send the thread to a step."""
    return pc.to(t, to)


def step(name: str, guard: Term, *changes: Change) -> Action:
    """Return an action of a thread."""
    return action(name, (t,), guard, *changes)


def drops(wanted: Term) -> Term:
    """BuffersToDrop: as few buffers as are needed, all if not even that is enough (3.2)."""
    without_one = non_pooled() + (dropped - 1) * poolable()
    return all_of(
        dropped >= 0,
        dropped <= free(),
        if_(
            wanted <= non_pooled(),
            dropped.is_(0),
            (dropped.is_(free()) | (there >= wanted)) & (without_one < wanted),
        ),
    )


there = non_pooled() + dropped * poolable()
"""What is not pooled once the buffers are dropped."""


def signal_if(test: Term) -> Change:
    """Go on with a signal, or with the release of the lock."""
    return go(if_(test, STEP.word("Signal"), "Unlock"))


SIGNAL_FIRST = signal_if(somebody_waits)
_others_wait = there_is(THREAD, lambda y: waits(y) & ~y.is_(t))


def signal_next(unpooled: Term, buffers: Term) -> Change:
    """SignalNext, after the thread has left the queue."""
    return signal_if(_others_wait & (unpooled + buffers > 0))


LEAVE: tuple[Change, ...] = (
    waits.to(t, False),
    ahead.at_all_pairs(lambda y, z: ahead(y, z) & ~y.is_(t) & ~z.is_(t)),
)
"""Leaves the queue."""


def leave_without(unpooled: Term, buffers: Term) -> tuple[Change, ...]:
    """LeaveWithout: nothing is left of what was accumulated."""
    return (
        free.to(buffers),
        non_pooled.to(unpooled),
        accumulated.to(t, 0),
        *LEAVE,
        signal_next(unpooled, buffers),
        thrown.to(t, False),
    )


def leave_with(unpooled: Term, buffers: Term, after: str) -> tuple[Change, ...]:
    """LeaveWith: all that was asked for is held."""
    return (*leave_without(unpooled, buffers), held.to(t, size(t)), then.to(t, after))


GIVE_UP = leave_without(non_pooled() + accumulated(t), free())
wanted = size(t) - accumulated(t)
reusable = size(t).is_(poolable()) & (free() > 0)
acquired = lock.to(t, True)
late = now() >= deadline(t)
_goes_on = at("EndWait") & ~thrown(t) & ~closed()
_tries = _goes_on & first(t)


def lock_actions(may_take_at_once: Term) -> tuple[Action, ...]:
    """Lock: what a newcomer does."""
    begins = at("Lock") & ~locked
    takes = begins & ~closed() & may_take_at_once
    return (
        step("Lock (closed)", begins & closed(), acquired, go("Unlock")),
        step(
            "Lock (reuses)",
            takes & reusable,
            acquired,
            held.to(t, size(t)),
            free.to(free() - 1),
            then.to(t, "Deallocate"),
            signal_if(somebody_waits & (non_pooled() + free() - 1 > 0)),
        ),
        action(
            "Lock (takes)",
            (t, dropped),
            takes & ~reusable & drops(size(t)),
            acquired,
            held.to(t, size(t)),
            free.to(free() - dropped),
            non_pooled.to(there - size(t)),
            then.to(t, "Make"),
            signal_if(somebody_waits & (there - size(t) + free() - dropped > 0)),
        ),
        step(
            "Lock (queues)",
            begins & ~closed() & ~may_take_at_once,
            acquired,
            waits.to(t, True),
            ahead.at_all_pairs(lambda y, z: ahead(y, z) | (waits(y) & z.is_(t))),
            go("Await"),
        ),
    )


def end_wait(tries: Term, waits_behind: Term) -> tuple[Action, ...]:
    """EndWait: who tries takes what there is, others wait again or leave."""
    whole = accumulated(t).is_(0) & reusable
    takes = tries & ~whole & drops(wanted)
    return (
        step("EndWait (gives up)", at("EndWait") & (thrown(t) | closed()), *GIVE_UP),
        step(
            "EndWait (reuses)", tries & whole, *leave_with(non_pooled(), free() - 1, "Deallocate")
        ),
        action(
            "EndWait (takes)",
            (t, dropped),
            takes & (there >= wanted),
            *leave_with(there - wanted, free() - dropped, "Make"),
        ),
        action(
            "EndWait (late)",
            (t, dropped),
            takes & (there < wanted) & late,
            *leave_without(accumulated(t) + there, free() - dropped),
        ),
        action(
            "EndWait (accumulates)",
            (t, dropped),
            takes & (there < wanted) & ~late,
            free.to(free() - dropped),
            non_pooled.to(0),
            accumulated.to(t, accumulated(t) + there),
            thrown.to(t, False),
            go("Await"),
        ),
        step("EndWait (behind, late)", waits_behind & late, *GIVE_UP),
        step("EndWait (behind)", waits_behind & ~late, thrown.to(t, False), go("Await")),
    )


_wakes = at("Asleep") & asleep(t)
_returns = held(t).is_(poolable())
_next_told = all_of(
    waits(x), ~told(t, x), for_all(THREAD, lambda y: ahead(y, x).implies(told(t, y)))
)
_more_to_tell = there_is(THREAD, lambda y: waits(y) & ~told(t, y) & ~y.is_(x))

MAY_TAKE_AT_ONCE = ~somebody_waits & enough(size(t))

ACTIONS = (
    step(
        "ReadClock",
        at("ReadClock"),
        deadline.to(t, now() + limit(t)),
        asked.to(t, now()),
        go("Lock"),
    ),
    *lock_actions(MAY_TAKE_AT_ONCE),
    step(
        "Await", at("Await") & ~interrupted(t), lock.to(t, False), asleep.to(t, True), go("Asleep")
    ),
    step(
        "AwaitInterrupted",
        at("Await") & interrupted(t),
        interrupted.to(t, False),
        thrown.to(t, True),
        go("EndWait"),
    ),
    step("Wake", at("Asleep") & ~asleep(t), go("Relock")),
    step("TimeOut", _wakes & late & ~interrupted(t), asleep.to(t, False), go("Relock")),
    step(
        "WakeSpuriously",
        _wakes & spurious() & ~late & ~interrupted(t),
        asleep.to(t, False),
        go("Relock"),
    ),
    step(
        "WakeInterrupted",
        _wakes & interrupted(t),
        asleep.to(t, False),
        interrupted.to(t, False),
        thrown.to(t, True),
        go("Relock"),
    ),
    step("Relock", at("Relock") & ~locked, acquired, go("EndWait")),
    *end_wait(_tries, _goes_on & ~first(t)),
    step("Make", at("Make"), go("Deallocate")),
    step("MakeFails", at("Make") & unlucky(t), go("Refund")),
    step(
        "Refund",
        at("Refund") & ~locked,
        acquired,
        non_pooled.to(non_pooled() + held(t)),
        held.to(t, 0),
        SIGNAL_FIRST,
    ),
    step(
        "Deallocate",
        at("Deallocate") & ~locked,
        acquired,
        free.to(if_(_returns, free() + 1, free())),
        non_pooled.to(if_(_returns, non_pooled(), non_pooled() + held(t))),
        held.to(t, 0),
        SIGNAL_FIRST,
    ),
    step("Signal", at("Signal"), asleep.everywhere(lambda y: asleep(y) & ~first(y)), go("Unlock")),
    step(
        "Unlock (goes on)",
        at("Unlock") & ~then(t).is_("End"),
        lock.to(t, False),
        go(if_(then(t).is_("Make"), STEP.word("Make"), "Deallocate")),
        then.to(t, "End"),
    ),
    step(
        "Unlock (ends)",
        at("Unlock") & then(t).is_("End") & ~restless(t),
        lock.to(t, False),
        go("Done"),
    ),
    action(
        "Unlock (begins again)",
        (t, n),
        all_of(at("Unlock"), then(t).is_("End"), restless(t), n >= smallest(t), n <= largest(t)),
        lock.to(t, False),
        size.to(t, n),
        go("ReadClock"),
    ),
    step(
        "CloseLock",
        at("CloseLock") & ~locked,
        acquired,
        closed.to(True),
        go(if_(somebody_waits, STEP.word("CloseSignal"), "Unlock")),
    ),
    action(
        "CloseSignal",
        (t, x),
        at("CloseSignal") & _next_told,
        asleep.to(x, False),
        told.to(t, x, True),
        go(if_(_more_to_tell, STEP.word("CloseSignal"), "Unlock")),
    ),
    action(
        "Interrupt",
        (t, x),
        at("Interrupt") & victim(t, x),
        interrupted.to(x, True),
        go("Done"),
    ),
    action("Tick", (), now() < max_time(), now.to(now() + 1)),
)


SYSTEM = System(
    initial=(
        now.to(0),
        closed.to(False),
        non_pooled.to(all_bytes()),
        free.to(0),
        *(each.all_to(False) for each in (lock, waits, ahead, asleep, told, interrupted, thrown)),
        *(each.all_to(0) for each in (accumulated, held, deadline, asked)),
        pc.everywhere(
            lambda y: if_(
                client(y),
                STEP.word("ReadClock"),
                if_(closer(y), STEP.word("CloseLock"), "Interrupt"),
            )
        ),
        then.all_to("End"),
        size.everywhere(smallest),
    ),
    actions=ACTIONS,
    assumed={
        "every thread is a client, a closer or an interrupter, and only one of them": for_all(
            THREAD,
            lambda y: all_of(
                any_of(client(y), closer(y), interrupter(y)),
                ~(client(y) & closer(y)),
                ~(client(y) & interrupter(y)),
                ~(closer(y) & interrupter(y)),
            ),
        ),
        "only clients are restless, unlucky, or interrupted": for_all(
            THREAD,
            lambda y: (
                (restless(y) | unlucky(y)).implies(client(y))
                & for_all(THREAD, lambda z: victim(z, y).implies(client(y)))
            ),
        ),
        "every size is from one byte to all of them, and no limit is negative": for_all(
            THREAD,
            lambda y: client(y).implies(
                all_of(
                    smallest(y) > 0,
                    smallest(y) <= largest(y),
                    largest(y) <= all_bytes(),
                    limit(y) >= 0,
                )
            ),
        ),
        "a buffer of the pool has a byte, and there is no debt": (poolable() > 0)
        & (all_bytes() >= 0),
    },
)
