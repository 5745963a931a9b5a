"""The table entries of known bugs, for every component."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TypeVar

from wheelproof_spec.base.errors import UsageError


class Finder(StrEnum):
    """An engine that finds a defect."""

    SEQUENTIAL = "fuzz, one thread"
    THREADS = "fuzz, real threads"
    EXPLORE = "model checker"
    INTERLEAVING = "scripted interleaving"
    TLC = "TLC"
    PROOF = "proof"


class Sight(StrEnum):
    """Where a defect is visible from outside, in calls, answers and callbacks alone."""

    DRIVEN = "driven"
    """In cases that are driven call by call (`wheelproof conform`, `wheelproof fuzz`)."""
    RECORDED = "recorded"
    """In histories of threads that were recorded (`wheelproof check`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """A defect: what triggers it, what it breaks, and which engines find it.

    `source` is the issue or paper; `models` are the TLA+ models of the manifest that fail with it.
    `seen` is where it is visible from outside; if nowhere, `unseen` says why. If only engines of
    one kind can see it, `alone` says why. The variant that brings it back is in the entries of a
    component, which extend this class.
    """

    id: str
    component: str
    trigger: str
    broken: str
    source: str
    finders: tuple[Finder, ...]
    models: tuple[str, ...] = ()
    seen: tuple[Sight, ...] = ()
    unseen: str = ""
    alone: str = ""

    def variant(self) -> object:
        """Return what `wheelproof fuzz` takes in the place of the reference."""
        raise NotImplementedError

    def replaced(self) -> Mapping[object, object]:
        """Return a map from each replaced class or function of the reference to its variant.

        The originals are the defaults of the fields that a component's entries have for variants.
        """
        given = ((field.default, getattr(self, field.name)) for field in fields(self))
        return {usual: other for usual, other in given if callable(usual) and usual is not other}

    def seams(self) -> tuple[str, ...]:
        """Return which parts of the reference the variant replaces: `TimingWheel._put`, and so on.

        Nothing for a defect of the code around the reference.
        """
        found: dict[str, None] = {}
        for usual, other in self.replaced().items():
            if isinstance(usual, type) and isinstance(other, type):
                names = [usual.__name__] if _is_reference(other) else _overridden(other)
                found.update(dict.fromkeys(names))
        return tuple(found)


def _overridden(variant: type) -> Iterator[str]:
    """Yield each attribute of the reference that `variant`, or a class that it names, replaces."""
    ours = [one for one in variant.__mro__ if _is_reference(one)]
    for theirs in variant.__mro__:
        if theirs in ours:
            continue
        for name, value in vars(theirs).items():
            owner = next((one for one in ours if name in vars(one)), None)
            if isinstance(value, type):
                yield from _overridden(value)
            elif owner is not None and not name.startswith(("__", "_abc_")):
                yield f"{owner.__name__}.{name}"


def _is_reference(one: type) -> bool:
    return one.__module__.partition(".")[0] == "wheelproof"


Bug = TypeVar("Bug", bound=KnownBug)


def find_bug(bugs: Sequence[Bug], bug_id: str) -> Bug:
    """Return the entry with this id among `bugs`.

    Raises UsageError, which names all ids, if there is none.
    """
    for bug in bugs:
        if bug.id == bug_id:
            return bug
    known = ", ".join(bug.id for bug in bugs)
    raise UsageError(f"no known bug {bug_id!r} here; there are: {known}")
