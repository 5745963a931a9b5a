"""The wait-for graph of a run in which no thread can make a step."""

from collections.abc import Mapping, Sequence

from wheelproof_explore.failures.failure import Failure, FailureKind, WaitFor
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.numbers import Actor


def failure_of_stuck_threads(
    stuck: Sequence[ModelThread], threads: Mapping[int, ModelThread]
) -> Failure:
    """Return the failure of a run in which no thread can make a step, with the wait-for graph.

    Threads that wait for each other in a circle are a deadlock. Without a circle, a thread that
    waits on a condition has missed its wake-up, and any other stuck thread is unfinished.
    """
    waits = _waits_of(stuck, threads)
    circle = _circle_of(stuck, threads)
    if circle:
        kind = FailureKind.DEADLOCK
    elif any(wait.on_condition for wait in waits):
        kind = FailureKind.LOST_WAKEUP
    else:
        kind = FailureKind.UNFINISHED
    told = f"; circle: {' -> '.join([*circle, circle[0]])}" if circle else ""
    message = "; ".join(map(str, waits)) + told
    guilty = {
        wait.doing
        for wait in waits
        if wait.thread in circle
        or (not circle and (wait.on_condition or kind is FailureKind.UNFINISHED))
    }
    cause = ", ".join(sorted(guilty))
    return Failure(kind=kind, thread=None, message=message, waits=waits, cause=cause)


def _waits_of(
    stuck: Sequence[ModelThread], threads: Mapping[int, ModelThread]
) -> tuple[WaitFor, ...]:
    """Return what each of the threads waits for; those on conditions come first."""
    waits = [_wait(thread, threads) for thread in stuck]
    return tuple(sorted(waits, key=lambda wait: not wait.on_condition))


def _circle_of(stuck: Sequence[ModelThread], threads: Mapping[int, ModelThread]) -> tuple[str, ...]:
    """Return the names of threads in a circle: each waits for the next, the last for the first.

    The circle that is found first is returned; empty if there is none.
    """
    holders = {thread.number: _holders(thread) for thread in stuck}
    innocent: set[Actor] = set()
    for start in holders:
        path = _path_into_itself(start, holders, [], innocent)
        if path:
            return tuple(threads[number].name for number in path)
    return ()


def _wait(thread: ModelThread, threads: Mapping[int, ModelThread]) -> WaitFor:
    operation = thread.pending
    condition = "" if operation is None else operation.awaited()
    doing = "has not begun"
    if condition:
        doing = f"waits on {condition}"
    elif operation is not None:
        doing = operation.blocked()
    return WaitFor(
        thread=thread.name,
        doing=doing,
        for_threads=tuple(_named(number, threads) for number in _holders(thread)),
        on_condition=bool(condition),
    )


def _named(number: int, threads: Mapping[int, ModelThread]) -> str:
    thread = threads.get(number)
    if thread is None:
        return "the set-up"
    return f"{thread.name}, which has ended" if thread.ended else thread.name


def _holders(thread: ModelThread) -> tuple[Actor, ...]:
    return () if thread.pending is None else thread.pending.holders()


def _path_into_itself(
    here: Actor, holders: Mapping[Actor, tuple[Actor, ...]], path: list[Actor], innocent: set[Actor]
) -> list[Actor]:
    """Follow the edges depth first; `innocent` are the threads from which no circle is reached."""
    if here in path:
        return path[path.index(here) :]
    if here in innocent:
        return []
    for holder in holders.get(here, ()):
        found = _path_into_itself(holder, holders, [*path, here], innocent)
        if found:
            return found
    innocent.add(here)
    return []
