"""The machine of a component: the reference, or a known bug, fuzzed by threads of each kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from wheelproof_spec.base.component import CallT, Request, SeenT
from wheelproof_spec.base.known_bug import KnownBug, variant
from wheelproof_spec.base.port import Port
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import Suite
from wheelproof_spec.engines.fuzz.order import Batch, FuzzOrder

BugT = TypeVar("BugT", bound=KnownBug)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Generic[BugT, CallT, SeenT]):
    """A component that can be fuzzed, and with which kinds of threads.

    With one thread, the `suite` drives the `port` of a variant of the reference, and `profile`
    judges it. `parts` has the runs for each other kind of threads, which share the time.
    """

    suite: Suite[CallT, SeenT]
    profile: str
    bugs: Sequence[BugT]
    port: Callable[[BugT], Port[CallT, SeenT]]
    parts: Mapping[str, Sequence[Callable[[BugT, Batch], FuzzReport]]] = field(compare=False)

    @property
    def name(self) -> str:
        """The name of the component."""
        return self.suite.definition.name

    @property
    def threads(self) -> tuple[str, ...]:
        """The kinds of threads."""
        return ("none", *self.parts)

    def reports(self, order: FuzzOrder) -> Iterator[FuzzReport]:
        """Yield a report for each part; raises UsageError if the component has no such bug."""
        from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread

        bug = variant(self.bugs, order.bug)
        if order.threads == "none":
            profile = order.profile or self.profile
            yield fuzz_with_one_thread(self.suite, self.port(bug), profile, **order.batch())
            return
        parts = self.parts[order.threads]
        share = None if order.seconds is None else order.seconds / len(parts)
        for part in parts:
            yield part(bug, replace(order, seconds=share).batch())


AnyMachine = Machine[KnownBug, Request, object]
"""A machine, for code that does not look at its bugs, calls and observations."""
