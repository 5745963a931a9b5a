"""Checking that an argument lies within the domain of the system (standard 1.17, 6.1).

An implementation with 64-bit integers overflows on numbers that Python takes. What this one accepts
must not depend on the language, so every number that comes in is tested against the same bounds.

>>> from wheelproof.domain import require_integer
>>> require_integer("shards", 4, 1)
4
>>> require_integer("buckets", 0, 2, 8)
Traceback (most recent call last):
wheelproof.errors.IllegalArgumentError: buckets has to lie within 2 and 8, not 0
"""

from wheelproof.errors import IllegalArgumentError
from wheelproof.units import MAX_MILLIS


def require_integer(name: str, value: int, least: int, most: int = MAX_MILLIS) -> int:
    """Return `value` if it is an integer from `least` to `most`.

    Raises IllegalArgumentError, which names the argument, otherwise.
    """
    if type(value) is not int:
        raise IllegalArgumentError(f"{name} has to be an integer, not {value!r}")
    if not least <= value <= most:
        raise IllegalArgumentError(f"{name} has to lie within {least} and {most}, not {value}")
    return value
