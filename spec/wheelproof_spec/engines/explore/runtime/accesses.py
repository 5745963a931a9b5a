"""What an event reads and writes, and which events commute.

An access is an integer: the object's number times two, plus one for a write. Two events of
different threads are independent unless they touch one object and one of them writes it. Object 0
is the history of public operations: there an invocation and a return conflict, two of a kind do
not, so that every order of "returned before the other was invoked" is explored.
"""

from collections.abc import Sequence

Actor = int
"""Who makes a step: the thread's number, and above `THREAD_BITS` the value that it chooses."""

Accesses = tuple[int, ...]
Event = tuple[Actor, Accesses]

THREAD_BITS = 16
THREAD_MASK = (1 << THREAD_BITS) - 1
TIME: Actor = THREAD_MASK
"""The actor that moves the clock."""

INVOKE: Accesses = (0,)
RETURN: Accesses = (1,)


def reading(number: int) -> Accesses:
    """Return the access of reading the object with this number."""
    return (number << 1,)


def writing(number: int) -> Accesses:
    """Return the access of writing the object with this number."""
    return (number << 1 | 1,)


def dependent(first: Accesses, second: Accesses) -> bool:
    """Tell whether two events of different threads can have an effect on each other."""
    for one in first:
        for other in second:
            difference = one ^ other
            if difference == 1 or (difference == 0 and one & 1 and one != 1):
                return True
    return False


def weak_initial(event: Event, sequence: Sequence[Event]) -> int | None:
    """Tell whether `event` can come first in a sequence equivalent to `sequence`, or be added.

    Returns its place there, -1 if it is absent and commutes with everything, None if it cannot.
    """
    actor, accesses = event
    if len(accesses) == 1:
        return _weak_initial_of_one(actor, accesses[0], sequence)
    for place, (other, others) in enumerate(sequence):
        if other == actor:
            return place
        if dependent(accesses, others):
            return None
    return -1


def _weak_initial_of_one(actor: Actor, access: int, sequence: Sequence[Event]) -> int | None:
    # Nearly all events have a single access, and this is the innermost loop of the search.
    conflicting = (access ^ 1, access) if access & 1 and access != 1 else (access ^ 1,)
    for place, (other, others) in enumerate(sequence):
        if other == actor:
            return place
        for one in others:
            if one in conflicting:
                return None
    return -1
