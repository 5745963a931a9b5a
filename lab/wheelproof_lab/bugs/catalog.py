"""The known bugs of all components; those of one component are loaded without the others."""

from functools import cache

from wheelproof_lab.bugs.known_bug import KnownBug, find_bug

_COMPONENTS = ("timer", "purgatory", "replication", "buffer_pool", "accumulator")


def bugs_of(component: str) -> tuple[KnownBug, ...]:
    """Return the known bugs of a component; none for a component that has none.

    Whoever brings one back has to load as little of the reference as possible before that.
    """
    match component:
        case "timer":
            from wheelproof_lab.bugs import timer

            return timer.BUGS
        case "purgatory":
            from wheelproof_lab.bugs import purgatory

            return purgatory.BUGS
        case "replication":
            from wheelproof_lab.bugs import replication

            return replication.BUGS
        case "buffer_pool":
            from wheelproof_lab.bugs import buffer_pool

            return buffer_pool.BUGS
        case "accumulator":
            from wheelproof_lab.bugs import accumulator

            return accumulator.BUGS
        case _:
            return ()


@cache
def bugs() -> tuple[KnownBug, ...]:
    """Return the known bugs of all components."""
    return tuple(bug for component in _COMPONENTS for bug in bugs_of(component))


def variant_of(component: str, bug_id: str) -> object:
    """Return what `wheelproof fuzz` takes of a known bug; raises UsageError if there is none."""
    return find_bug(bugs_of(component), bug_id).variant()
