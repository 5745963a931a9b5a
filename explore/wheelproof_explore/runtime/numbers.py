"""The integers that encode steps, objects and accesses.

They are encoded and decoded millions of times a minute, so they are plain integers. The innermost
loops shift and mask; all other code calls the functions here.

Actor, which makes a step::

    | value of a free choice | thread: 16 bits |

If a thread makes no free choice, or takes choice 0, its actor is the number of the thread. `TIME`
is the highest number, which no thread has; the set-up, which makes no steps, is -1.

ObjectNumber, the same in every run, whatever the schedule::

    | field | maker + 1: 20 bits | count among the maker's objects: 20 bits |

Field 0 is the object itself; the plain fields of a program count from 1, and `INTERRUPTION` is
above them. Counts begin at 1, so no object is 0: 0 is the history of public operations. The two
highest counts belong to each thread's signal and to its free choices.

Access::

    | object number | 1 if it writes, 0 if it reads |

Accesses of one object conflict if one of them writes. For the history, 0 is an invocation and 1 a
return: the two kinds conflict with each other, but not with their own kind.
"""

from typing import NewType

Actor = NewType("Actor", int)
ObjectNumber = NewType("ObjectNumber", int)
Access = NewType("Access", int)

THREAD_BITS = 16
THREAD_MASK = (1 << THREAD_BITS) - 1
TIME = Actor(THREAD_MASK)
"""The actor that moves the clock."""
FIRST = Actor(0)
"""The thread that was made first."""
SET_UP = Actor(-1)
"""The set-up and the checks, during which no thread runs."""

HISTORY = ObjectNumber(0)
INTERRUPTION = 1 << 19
_MADE_BITS = 20
_FIELD_BITS = 40
_MADE_MASK = (1 << _MADE_BITS) - 1
_FIELD_MASK = (1 << _FIELD_BITS) - 1
_SIGNAL = _MADE_MASK
_CHOICE = _MADE_MASK - 1


def thread_of(actor: Actor) -> Actor:
    """Return the thread that makes a step."""
    return Actor(actor & THREAD_MASK)


def choice_of(actor: Actor) -> int:
    """Return the value that an actor chooses, 0 if it has no choice."""
    return actor >> THREAD_BITS


def choosing(thread: Actor, value: int) -> Actor:
    """Return the actor of a thread that chooses a value."""
    return Actor(thread | value << THREAD_BITS)


def object_number(maker: Actor, made: int) -> ObjectNumber:
    """Return the number of the object that is the `made`-th of its maker, from 1."""
    return ObjectNumber((maker + 1) << _MADE_BITS | made)


def signal_number(thread: Actor) -> ObjectNumber:
    """Return the number of a thread's signal."""
    return object_number(thread, _SIGNAL)


def choice_number(thread: Actor) -> ObjectNumber:
    """Return the number of the object that a thread's free choices write."""
    return object_number(thread, _CHOICE)


def field_number(field: int, owner: ObjectNumber) -> ObjectNumber:
    """Return the number of a field of an object."""
    return ObjectNumber(field << _FIELD_BITS | owner)


def field_of(number: ObjectNumber) -> int:
    """Return the field, 0 for the object itself."""
    return number >> _FIELD_BITS


def maker_of(number: ObjectNumber) -> Actor:
    """Return the thread that made an object, or the owner of a field."""
    return Actor(((number & _FIELD_MASK) >> _MADE_BITS) - 1)


def place_of(number: ObjectNumber) -> int:
    """Return the count of an object among the objects of its maker."""
    return number & _MADE_MASK


def object_of(access: Access) -> ObjectNumber:
    """Return the object of an access."""
    return ObjectNumber(access >> 1)
