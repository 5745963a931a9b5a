"""Comparison of BufferPool.tla with the reference's BufferPool: states, steps and time.

One step of the module is one operation of the code on the lock, a condition or the clock, together
with the plain code after it. Compared are all variables that the code has too: the lock, the fields
of the pool, the sleeping threads, the interrupted threads, the time, and each thread's next step.

The memory that clients hold is compared as a sum, since a loan does not name its client. Left out
are the registers (then, deadline, round, called, thrown) and the history `asked`. This loses
nothing: a wrong register shows later as a wrong step or a wrong sum. Two steps exist only in the
code: the start of a client that can be interrupted, and the clock reading before a wait.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof import sync
from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.producer.pooled_memory import Loan
from wheelproof_explore.runtime.conditions import ModelCondition
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.numbers import maker_of
from wheelproof_explore.runtime.thread_steps import Life, ThreadHandle
from wheelproof_lab.graph.buffer_pool.clock import PoolClock, Reading
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.states.names import attributes, members
from wheelproof_lab.graph.states.views import NextStep, Surroundings, View
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

CLOCK = "clock"
_NONE = ModelValue(name="None")

_STEPS = {
    "allocate Acquire BufferPool.lock": "Lock",
    "_refund Acquire BufferPool.lock": "Refund",
    "deallocate Acquire BufferPool.lock": "Deallocate",
    "close Acquire BufferPool.lock": "CloseLock",
    "wait_until Acquire BufferPool.lock": "Relock",
    "_await_more_memory Acquire BufferPool.lock": "Relock",
    "_signal_first Notify BufferPool.more_memory": "Signal",
    "close Notify BufferPool.more_memory": "CloseSignal",
    "allocate Release BufferPool.lock": "Unlock",
    "_refund Release BufferPool.lock": "Unlock",
    "deallocate Release BufferPool.lock": "Unlock",
    "close Release BufferPool.lock": "Unlock",
}
"""The action of a step: where it is asked for, its operation, its subject."""
_OPERATIONS = {
    "Wait": "Await",
    "WakeUp": "Asleep",
    "Choose": "Make",
    "Start": "Interrupt",
    "SetInterrupted": "Interrupt",
    "Finish": "Done",
}
"""The action of a step that its operation alone tells."""
_READINGS = {
    Reading.DEADLINE: "ReadClock",
    Reading.BEFORE_WAIT: "Await",
    Reading.AFTER_WAIT: "EndWait",
}
_VARIABLES = (
    "now", "lock", "closed", "nonPooled", "free", "waiters", "asleep", "accumulated", "interrupted",
    "pc",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class BufferPoolView(View):
    """The view of a pool in the variables of BufferPool.tla.

    `others` are closers and interrupters; `interruptible` has the threads of the clients that may
    be interrupted.
    """

    pool: BufferPool
    clock: PoolClock
    clients: tuple[str, ...]
    others: tuple[str, ...]
    interruptible: Mapping[str, sync.Thread]
    max_time_ms: int

    def state(self, surroundings: Surroundings) -> State:
        """Return the compared variables of BufferPool."""
        held = attributes(self.pool)
        holder = surroundings.holder(held["_lock"])
        waiters = {
            _maker(waiter, surroundings): waiter for waiter in members(held["_waiters"], Waiter)
        }
        memory = attributes(held["_memory"])
        non_pooled = memory["non_pooled"]
        assert isinstance(non_pooled, int)
        return {
            "now": self.clock.cell.get(),
            "lock": _NONE if holder is None else holder,
            "closed": held["_closed"] is True,
            "nonPooled": non_pooled,
            "free": len(members(memory["free"], ByteBuffer)),
            "waiters": tuple(waiters),
            "asleep": frozenset(name for name in waiters if self._sleeps(name)),
            "accumulated": make_function(
                (name, waiters[name].accumulated if name in waiters else 0) for name in self.clients
            ),
            "lent": sum(loan.size for loan in members(memory["loans"], Loan)),
            "interrupted": frozenset(
                name for name in self.interruptible if self._is_interrupted(name)
            ),
            "pc": make_function(
                (name, self._pc(name, surroundings)) for name in (*self.clients, *self.others)
            ),
        }

    def label(self, step: NextStep) -> str | None:
        """Return thread and action, a wake-up with the name of its cause; None for no action."""
        action = self._action(step)
        return action if action is None or action == "Tick" else f"{step.thread}: {action}"

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Allow a tick as MCLater does, and a TimeOut only after the client's deadline."""
        del surroundings
        if step.thread == CLOCK:
            return self.clock.cell.get() < self.max_time_ms
        return self._action(step) != "TimeOut" or self.clock.is_over(step.thread)

    def _action(self, step: NextStep) -> str | None:
        if step.thread == CLOCK:
            return "Tick"
        if step.operation in ("Start", "Finish"):
            return None
        if step.operation == "Choose":
            return "MakeFails" if step.choice else "Make"
        doing = self._next_step(step)
        if step.operation == "Get":
            return None if doing == "Await" else doing
        interrupted = self._is_interrupted(step.thread)
        if doing == "Await":
            return "AwaitInterrupted" if interrupted else "Await"
        if doing != "Asleep":
            return doing
        if not self._sleeps(step.thread):
            return "Wake"
        return "WakeInterrupted" if interrupted else "TimeOut"

    def _pc(self, name: str, surroundings: Surroundings) -> str:
        step = surroundings.pending.get(name)
        if step is not None:
            return self._next_step(step)
        thread = self.interruptible.get(name)
        return "ReadClock" if isinstance(thread, ThreadHandle) and _is_new(thread) else "Done"

    def _next_step(self, step: NextStep) -> str:
        """Return the `pc` of a thread before the step; for an unknown step return its text."""
        if step.operation == "Get":
            return _READINGS[self.clock.reading(step.thread)]
        known = _STEPS.get(f"{step.site} {step.operation} {step.subject}")
        return known or _OPERATIONS.get(step.operation) or f"{step.text} in {step.site}"

    def _sleeps(self, client: str) -> bool:
        """Tell whether a client is in the queue of its condition."""
        waiters = members(attributes(self.pool)["_waiters"], Waiter)
        return any(thread.name == client for waiter in waiters for thread in _queue(waiter))

    def _is_interrupted(self, name: str) -> bool:
        thread = self.interruptible.get(name)
        return isinstance(thread, ThreadHandle) and thread.interruption.state


def _is_new(thread: ThreadHandle) -> bool:
    return thread.state is Life.NEW


def _queue(waiter: Waiter) -> tuple[ModelThread, ...]:
    condition = waiter.more_memory
    assert isinstance(condition, ModelCondition)
    return condition.state


def _maker(waiter: Waiter, surroundings: Surroundings) -> str:
    """Return the thread that made a waiter, which follows from the number of its condition."""
    condition = waiter.more_memory
    assert isinstance(condition, ModelCondition)
    return surroundings.threads[maker_of(condition.number)]


def project_buffer_pool(state: State) -> State:
    """Return the compared part of a state of the module."""
    lent = sum(size for _, size in pairs_of(state["held"]) if isinstance(size, int))
    return {**only(state, _VARIABLES), "lent": lent}


def label_of_buffer_pool(action: str, before: State, after: State) -> str | None:
    """Return thread and action; the thread is the one whose `pc` changes.

    The thread's `pc` before the step is the action's name, unless the state tells more. So an
    override has the name of the operator that it replaces.
    """
    del action
    if before["now"] != after["now"]:
        return "Tick"
    for variable in ("pc", "called"):
        for thread, old, new in changes_of(variable, before, after):
            # Only a closer repeats a step without a change of its `pc`; `called` counts that.
            step = old if variable == "pc" else "CloseSignal"
            return f"{thread}: {_name_of(step, new, thread, before)}"
    return None


def _name_of(step: Value, following: Value, thread: Value, before: State) -> Value:
    asleep, interrupted = before["asleep"], before["interrupted"]
    assert isinstance(asleep, frozenset)
    assert isinstance(interrupted, frozenset)
    if step == "Await" and thread in interrupted:
        return "AwaitInterrupted"
    if step == "Asleep":
        if thread not in asleep:
            return "Wake"
        return "WakeInterrupted" if thread in interrupted else "TimeOut"
    return "MakeFails" if step == "Make" and following == "Refund" else step
