"""MaybeTryComplete.tla for any number of triggers, holders and time-outs, in each discipline.

The actions have the names of the module's actions, the fields the names of its variables. A
variable that is a thread or None there is a relation here: ``lock(t)`` is ``lock = t``.
"""

from wheelproof_lab.prove.system import Action, System, action
from wheelproof_lab.prove.terms import (
    INT,
    Change,
    Field,
    Operand,
    Shape,
    Sort,
    Term,
    for_all,
    if_,
    there_is,
)

THREAD = Sort(name="Thread", tla="Threads")
STEP = Sort(
    name="Step",
    words=(
        "MakeTrue", "IsDone", "IsDoneUnderLock", "IsDoneAgain", "ForceIsDone", "Lock", "ForceLock",
        "TryLock", "ClearPending", "SetPending", "ReadPending", "TryComplete", "Unlock",
        "UnlockAndRaise", "ForceComplete", "OnComplete", "OnExpiration", "Hold", "LetGo", "Done",
    ),
)  # fmt: skip

trigger = Field(name="Triggers", sorts=(THREAD,), rigid=True, shape=Shape.SET)
timer = Field(name="Timers", sorts=(THREAD,), rigid=True, shape=Shape.SET)
holder = Field(name="Holders", sorts=(THREAD,), rigid=True, shape=Shape.SET)
restless = Field(name="Restless", sorts=(THREAD,), rigid=True, shape=Shape.SET)
raising = Field(name="Raising", sorts=(THREAD,), rigid=True, shape=Shape.SET)
needed = Field(name="Needed", result=INT, rigid=True)

lock = Field(name="lock", sorts=(THREAD,), shape=Shape.ONE)
state = Field(name="state", result=Sort(name="State", words=("pending", "completed")))
pending = Field(name="pending")
events = Field(name="events", result=INT)
answers = Field(name="answers", result=INT)
expirations = Field(name="expirations", result=INT)
pc = Field(name="pc", sorts=(THREAD,), result=STEP)
retry = Field(name="retry", sorts=(THREAD,), domain=(trigger,))
ender = Field(name="ender", sorts=(THREAD,), shape=Shape.ONE)
owed = Field(name="owed", sorts=(THREAD,), shape=Shape.SET)

TRYING = ("try_lock_once", "try_lock_pending")
"""The disciplines that try the lock; the others wait for it."""

t = THREAD.variable("t")
holds = events() >= needed()


def done() -> Term:
    """Say that the operation is not pending."""
    return state().is_("completed")


def at(*steps: str) -> Term:
    """Say that the thread is at one of these steps."""
    return pc(t).among(*steps)


def go(to: Operand) -> Change:
    """Send the thread to a step."""
    return pc.to(t, to)


def step(name: str, guard: Term, *changes: Change) -> Action:
    """Return an action of a thread."""
    return action(name, (t,), guard, *changes)


def if_step(test: Term, then: str, otherwise: Operand) -> Term:
    """Return one of two steps."""
    return if_(test, STEP.word(then), otherwise)


locked = there_is(THREAD, lock)
at_end = if_step(restless(t), "IsDone", "Done")
refused = if_step(lock(t), "Unlock", "Done")


def attempts(discipline: str) -> System:
    """Return the transition system of a discipline."""
    force = "ForceIsDone" if discipline == "exclusive" else "ForceComplete"
    actions = (
        step("MakeTrue", at("MakeTrue"), events.to(events() + 1), owed.to(t, True), go("IsDone")),
        step("IsDone", _reads_the_state(discipline), retry.to(t, False), go(_is_done(discipline))),
        step(
            "TryComplete",
            at("TryComplete"),
            owed.all_to(False),
            go(if_step(holds, force, "Unlock")),
        ),
        step(
            "TryCompleteRaises",
            raising(t) & at("TryComplete"),
            owed.to(t, False),
            go("UnlockAndRaise"),
        ),
        unlock(discipline),
        step(
            "ForceComplete",
            at("ForceComplete"),
            state.to("completed"),
            ender.to(t, ender(t) | ~done()),
            go(if_(done(), refused, "OnComplete")),
        ),
        step(
            "OnComplete",
            at("OnComplete"),
            answers.to(answers() + 1),
            go(if_step(lock(t), "Unlock", "OnExpiration")),
        ),
        step("OnExpiration", at("OnExpiration"), expirations.to(expirations() + 1), go("Done")),
        *HOLDING,
        *(_trying(discipline) if discipline in TRYING else (_lock(discipline),)),
    )
    return System(
        initial=(
            *(field.all_to(False) for field in (lock, pending, retry, ender, owed)),
            *(field.to(0) for field in (events, answers, expirations)),
            state.to("pending"),
            pc.everywhere(
                lambda x: if_step(
                    trigger(x), "MakeTrue", if_step(holder(x), "Hold", STEP.word(force))
                )
            ),
        ),
        actions=actions,
        assumed=ASSUMED,
    )


HOLDING = (
    step("Hold", at("Hold") & ~locked, lock.to(t, True), go("LetGo")),
    step("LetGo", at("LetGo"), lock.to(t, False), go("Done")),
)
"""The actions of threads that take the operation's lock for another purpose."""

ASSUMED = {
    "every thread is a trigger, a holder or a timer, and only one of them": for_all(
        THREAD,
        lambda x: (
            (trigger(x) | timer(x) | holder(x))
            & ~(trigger(x) & timer(x))
            & ~(trigger(x) & holder(x))
            & ~(timer(x) & holder(x))
        ),
    ),
    "only triggers are restless or raise": for_all(
        THREAD, lambda x: (restless(x) | raising(x)).implies(trigger(x))
    ),
    "the predicate needs an event": needed() >= 1,
}


def _reads_the_state(discipline: str) -> Term:
    if discipline == "try_lock_pending":
        return at("IsDone", "IsDoneAgain")
    if discipline == "blocking":
        return at("IsDone", "IsDoneUnderLock")
    if discipline == "exclusive":
        return at("IsDone", "IsDoneUnderLock", "ForceIsDone")
    return at("IsDone")


def _is_done(discipline: str) -> Term:
    begin = "TryLock" if discipline in TRYING else "Lock"
    force = if_step(lock(t), "ForceComplete", "ForceLock")
    found = if_step(
        at("IsDone"),
        "Done",
        if_step(at("IsDoneUnderLock"), "Unlock", if_(at("IsDoneAgain"), at_end, refused)),
    )
    again = if_(retry(t), STEP.word("TryLock"), at_end)
    otherwise = if_step(
        at("IsDone"),
        begin,
        if_step(at("IsDoneUnderLock"), "TryComplete", if_(at("IsDoneAgain"), again, force)),
    )
    return if_(done(), found, otherwise)


def _lock(discipline: str) -> Action:
    """Return the action Lock, for the disciplines that wait for the lock."""
    inside = "TryComplete" if discipline == "monitor" else "IsDoneUnderLock"
    forces = discipline == "exclusive"
    return step(
        "Lock",
        ~locked & (at("Lock", "ForceLock") if forces else at("Lock")),
        lock.to(t, True),
        go(if_step(at("Lock"), inside, "ForceComplete") if forces else inside),
    )


def _trying(discipline: str) -> tuple[Action, ...]:
    """Return TryLock and the actions on the flag, for the disciplines that do not wait."""
    if discipline == "try_lock_once":
        return (try_lock(won="TryComplete", lost=at_end),)
    return (
        try_lock(won="ClearPending", lost=STEP.word("SetPending")),
        step("ClearPending", at("ClearPending"), pending.to(False), go("TryComplete")),
        step(
            "SetPending",
            at("SetPending"),
            pending.to(True),
            retry.to(t, ~pending()),
            go("IsDoneAgain"),
        ),
        step("ReadPending", at("ReadPending"), retry.to(t, pending()), go("IsDoneAgain")),
    )


def try_lock(won: str, lost: Term) -> Action:
    """Return the action TryLock, with its next step if it is won or lost."""
    return step("TryLock", at("TryLock"), lock.to(t, lock(t) | ~locked), go(if_(locked, lost, won)))


def unlock(discipline: str) -> Action:
    """Return the action Unlock, after which the flag is read if there is one."""
    after = STEP.word("ReadPending") if discipline == "try_lock_pending" else at_end
    ended = if_(timer(t), if_step(ender(t), "OnExpiration", "Done"), after)
    return step(
        "Unlock",
        at("Unlock", "UnlockAndRaise"),
        lock.to(t, False),
        go(if_step(at("UnlockAndRaise"), "Done", ended)),
    )
