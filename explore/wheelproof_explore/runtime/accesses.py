"""The accesses of an event, and which events commute.

Two events of different threads are independent unless they touch one object and one of them writes
it. An invocation and a return of public operations conflict, two of a kind do not, so that every
order of "returned before the other was invoked" is explored. `numbers` defines the encoding.
"""

from collections.abc import Sequence

from wheelproof_explore.runtime.numbers import HISTORY, Access, Actor, ObjectNumber

Accesses = tuple[Access, ...]
"""All accesses of one event: each object once at most, the history only alone."""
Event = tuple[Actor, Accesses]


def reading(number: ObjectNumber) -> Accesses:
    """Return the access of reading the object with this number."""
    return (Access(number << 1),)


def writing(number: ObjectNumber) -> Accesses:
    """Return the access of writing the object with this number."""
    return (Access(number << 1 | 1),)


INVOKE = reading(HISTORY)
RETURN = writing(HISTORY)


def joined(first: Accesses, second: Accesses) -> Accesses:
    """Return the accesses of both; of an object that both have, a write if one of them writes."""
    merged = {access >> 1: access for access in first}
    for access in second:
        merged[access >> 1] = Access(merged.get(access >> 1, access) | access)
    return tuple(merged.values())


def conflicting_with(access: Access) -> tuple[int, ...]:
    """Return the accesses of the same object that conflict with this one."""
    return (access ^ 1, access) if access & 1 and access != 1 else (access ^ 1,)


def dependent(first: Accesses, second: Accesses) -> bool:
    """Tell whether two events of different threads can have an effect on each other."""
    for access in first:
        for other in second:
            difference = access ^ other
            if difference == 1 or (difference == 0 and access & 1 and access != 1):
                return True
    return False


def weak_initial(event: Event, sequence: Sequence[Event]) -> int | None:
    """Return where `event` is in `sequence` if it can come first in an equivalent sequence.

    Return -1 if it is absent and commutes with every event there, None if it cannot come first.
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


def _weak_initial_of_one(actor: Actor, access: Access, sequence: Sequence[Event]) -> int | None:
    # Nearly all events have a single access, and this is the innermost loop of the search.
    conflicting = (access ^ 1, access) if access & 1 and access != 1 else (access ^ 1,)
    for place, (other, others) in enumerate(sequence):
        if other == actor:
            return place
        for touched in others:
            if touched in conflicting:
                return None
    return -1
