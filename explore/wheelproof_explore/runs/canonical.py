"""A name for each class of equivalent runs, and a digest over all classes.

Two runs are equivalent iff every thread makes the same steps and conflicting accesses of each
object come in the same order. The accesses of an object then form groups, each of which conflicts
with the group before. The name of a class is a sum of hashes, one for each access with its group
and its actor, so nothing has to be sorted. Threads and objects are named by where they were
created: a name depends neither on the order of exploration nor on the substrate.
"""

import hashlib

from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.numbers import (
    SET_UP,
    THREAD_MASK,
    TIME,
    Actor,
    ObjectNumber,
    choice_of,
    field_of,
    maker_of,
    place_of,
    thread_of,
)
from wheelproof_explore.runtime.settings import TimeMode

_DIGEST_BYTES = 16
_MODULUS = 1 << 8 * _DIGEST_BYTES
_NO_ACCESS = -1
_TICK = -2


class ClassNames:
    """The names of the classes of one exploration."""

    def __init__(self, world: World) -> None:
        self._numbers = world.numbers
        self._lazy = world.program.settings.time is TimeMode.LAZY
        self._threads: dict[int, str] = {SET_UP: "", TIME: "t"}
        # Keys: the actor, the number of the step in its thread, the access, and its group.
        self._hashes: dict[tuple[Actor, int, int, int], int] = {}

    def name(self, execution: Execution) -> bytes:
        """Return the name of the class of a finished run."""
        steps: dict[int, int] = {}
        # The last group of each object; its lowest bit is the kind of access.
        groups: dict[int, int] = {}
        hashes, total, ticks = self._hashes, 0, 0
        for actor, accesses in zip(execution.actors, execution.accesses, strict=True):
            number = actor & THREAD_MASK
            step = steps[number] = steps.get(number, 0) + 1
            if self._lazy and number == TIME:
                ticks += 1
                total += sum(self._hash(Actor(one), steps[one], _TICK, ticks) for one in steps)
            if not accesses:
                total += self._hash(actor, step, _NO_ACCESS, 0)
            for access in accesses:
                # Writes conflict with each other; two events of one kind of the history do not.
                group = groups.get(access >> 1, -1)
                if group < 0 or (group ^ access) & 1 or (access & 1 and access > 1):
                    group = groups[access >> 1] = (group >> 1) + 1 << 1 | access & 1
                key = actor, step, access, group
                known = hashes.get(key)
                total += self._hash(*key) if known is None else known
        return (total % _MODULUS).to_bytes(_DIGEST_BYTES)

    def _hash(self, actor: Actor, step: int, access: int, group: int) -> int:
        key = actor, step, access, group
        known = self._hashes.get(key)
        if known is None:
            what = self._object(ObjectNumber(access >> 1)) if access >= 0 else str(access)
            who = f"{self._thread(thread_of(actor))}:{choice_of(actor)}"
            text = f"{who} {step} {what} {group}".encode()
            known = int.from_bytes(hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest())
            self._hashes[key] = known
        return known

    def _thread(self, number: Actor) -> str:
        known = self._threads.get(number)
        if known is None:
            for (parent, child), thread in self._numbers.items():
                self._threads[thread] = f"{self._threads[parent]}.{child}"
            known = self._threads[number]
        return known

    def _object(self, number: ObjectNumber) -> str:
        maker = self._thread(maker_of(number)) if number else "history"
        return f"{maker}/{place_of(number)}.{field_of(number)}"


class SetDigest:
    """A digest of a set of names that does not depend on the order in which they are added."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, name: bytes) -> None:
        """Add a name; each name is added only once."""
        self._sum = (self._sum + int.from_bytes(name)) % _MODULUS

    def hex(self) -> str:
        """Return the digest."""
        return self._sum.to_bytes(_DIGEST_BYTES).hex()
