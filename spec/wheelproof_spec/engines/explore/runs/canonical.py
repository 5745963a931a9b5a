"""A name for each class of equivalent runs, and a digest over all classes.

Two runs are equivalent iff every thread makes the same steps and conflicting accesses of each
object come in the same order. The name of a class is a hash of exactly that, with threads and
objects named by where they were made, so that it depends neither on the order of exploration nor on
the substrate.
"""

import hashlib

from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runtime.numbers import (
    SET_UP,
    THREAD_BITS,
    THREAD_MASK,
    TIME,
    ObjectNumber,
    field_of,
    maker_of,
    object_of,
    place_of,
)
from wheelproof_spec.engines.explore.runtime.settings import TimeMode

_DIGEST_BYTES = 16
_STEP_BITS = 20
_HASH_BYTES = 7


class ClassNames:
    """Names the classes of one exploration."""

    def __init__(self, world: World) -> None:
        self._numbers = world.numbers
        self._lazy = world.program.settings.time is TimeMode.LAZY
        self._threads: dict[int, int] = {SET_UP: SET_UP, TIME: TIME}
        self._objects: dict[int, int] = {0: 0}

    def name(self, execution: Execution) -> bytes:
        """Return the name of the class of a run that is over."""
        made: dict[int, int] = {}
        orders: dict[int, _Order] = {}
        choices: list[int] = []
        ticks: list[list[tuple[int, int]]] = []
        for actor, accesses in zip(execution.actors, execution.accesses, strict=True):
            number = actor & THREAD_MASK
            thread = self._thread(number)
            step = made[thread] = made.get(thread, 0) + 1
            token = thread << _STEP_BITS | step
            if actor > THREAD_MASK:
                choices.append(token << THREAD_BITS | actor >> THREAD_BITS)
            if self._lazy and number == TIME:
                ticks.append(sorted(made.items()))
            for access in accesses:
                known = self._object(object_of(access))
                order = orders.get(known)
                if order is None:
                    order = orders[known] = _Order()
                order.add(token, access)
        parts = (
            sorted(made.items()),
            sorted((known, order.groups()) for known, order in orders.items()),
            sorted(choices),
            ticks,
        )
        return hashlib.blake2b(repr(parts).encode(), digest_size=_DIGEST_BYTES).digest()

    def _thread(self, number: int) -> int:
        known = self._threads.get(number)
        if known is None:
            for (parent, child), thread in self._numbers.items():
                maker = self._threads[parent]
                name = child if parent == SET_UP else _hash(f"{maker}.{child}")
                self._threads[thread] = name
            known = self._threads[number]
        return known

    def _object(self, number: ObjectNumber) -> int:
        known = self._objects.get(number)
        if known is None:
            maker = self._thread(maker_of(number))
            path = f"{maker}/{place_of(number)}.{field_of(number)}"
            known = self._objects[number] = _hash(path)
        return known


class _Order:
    """The order of the accesses of one object, up to exchanging what does not conflict."""

    __slots__ = ("_groups", "_kind")

    def __init__(self) -> None:
        self._groups: list[list[int]] = []
        self._kind = -1

    def add(self, token: int, access: int) -> None:
        # Writes conflict with each other; of the history's two kinds neither does with itself.
        kind = access & 1
        if kind == self._kind and not (kind and access > 1):
            self._groups[-1].append(token)
        else:
            self._groups.append([kind, token])
            self._kind = kind

    def groups(self) -> list[list[int]]:
        return [[group[0], *sorted(group[1:])] for group in self._groups]


class SetDigest:
    """A digest of a set of names that does not depend on the order in which they are added."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, name: bytes) -> None:
        """Add a name, each one once."""
        self._sum = (self._sum + int.from_bytes(name)) % (1 << 8 * _DIGEST_BYTES)

    def hex(self) -> str:
        """Return the digest."""
        return self._sum.to_bytes(_DIGEST_BYTES).hex()


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=_HASH_BYTES).digest())
