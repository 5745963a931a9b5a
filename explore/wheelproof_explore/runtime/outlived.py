"""What a program has dropped, and only a runtime keeps alive.

A list has no weak references, so a runtime that knows a list by its address has to keep it alive.
Without the runtime its items would have died with it, and their finalisers might have run.
"""

from collections import Counter
from collections.abc import Iterable
from gc import get_referents
from sys import getrefcount

_MOST = 2_000


def outlived(kept: Iterable[object]) -> list[object]:
    """Return the objects that one reference alone keeps alive, and what only these lead to.

    >>> held = [([{}],), ([],)]
    >>> used = held[1][0]
    >>> outlived(one for (one,) in held)
    [[{}], {}]
    """
    objects = {id(one): one for one in kept}
    # By the identity of an object: the references to it that come from what was dropped.
    from_dropped = Counter(dict.fromkeys(objects, 1))
    left = [key for key in objects if _references(objects, key) == 1]
    found = dict.fromkeys(left)
    while left and len(found) < _MOST:
        inside = get_referents(objects[left.pop()])
        keys = [*map(id, inside)]
        objects |= zip(keys, inside, strict=True)
        del inside
        for key in keys:
            from_dropped[key] += 1
            if key not in found and _references(objects, key) == from_dropped[key]:
                found[key] = None
                left.append(key)
    return [objects[key] for key in found]


def _count(objects: dict[int, object], key: int) -> int:
    return getrefcount(objects[key])


_OWN = _count({0: []}, 0)


def _references(objects: dict[int, object], key: int) -> int:
    """Return how many references there are to an object, besides that of this dictionary."""
    return _count(objects, key) - _OWN
