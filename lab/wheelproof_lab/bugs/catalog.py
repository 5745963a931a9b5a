"""The known bugs of all components."""

from collections.abc import Mapping

from wheelproof_lab.bugs import accumulator, buffer_pool, purgatory, replication, timer
from wheelproof_lab.bugs.known_bug import KnownBug, find_bug

BUGS_OF: Mapping[str, tuple[KnownBug, ...]] = {
    "timer": timer.BUGS,
    "purgatory": purgatory.BUGS,
    "replication": replication.BUGS,
    "buffer_pool": buffer_pool.BUGS,
    "accumulator": accumulator.BUGS,
}
BUGS: tuple[KnownBug, ...] = tuple(bug for bugs in BUGS_OF.values() for bug in bugs)


def variant_of(component: str, bug_id: str) -> object:
    """Return what `wheelproof fuzz` takes of a known bug; raises UsageError if there is none."""
    return find_bug(BUGS_OF.get(component, ()), bug_id).variant()
