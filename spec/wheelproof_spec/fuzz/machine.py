"""The machine of a component: the reference, or a variant of it, fuzzed by threads of each kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from wheelproof_spec.base.component import CallT, Request, SeenT
from wheelproof_spec.base.port import Port
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan, Suite

VariantT = TypeVar("VariantT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Generic[VariantT, CallT, SeenT]):
    """A component that can be fuzzed, and with which kinds of threads.

    `sound` is the reference. With one thread, the `suite` drives the `port` of a variant, and
    `profile` judges it. `parts` has the runs for each other kind of threads, which share the time.
    """

    suite: Suite[CallT, SeenT]
    profile: str
    sound: VariantT
    port: Callable[[VariantT], Port[CallT, SeenT]]
    parts: Mapping[str, Sequence[Callable[[VariantT, FuzzPlan], FuzzReport]]] = field(compare=False)

    @property
    def name(self) -> str:
        """The name of the component."""
        return self.suite.definition.name

    @property
    def threads(self) -> tuple[str, ...]:
        """The kinds of threads."""
        return ("none", *self.parts)

    def reports(self, plan: FuzzPlan, variant: VariantT | None = None) -> Iterator[FuzzReport]:
        """Yield a report for each part; without a `variant` the reference itself is fuzzed."""
        from wheelproof_spec.fuzz.one_thread import fuzz_with_one_thread

        fuzzed = self.sound if variant is None else variant
        if plan.threads == "none":
            profile = plan.profile or self.profile
            yield fuzz_with_one_thread(self.suite, self.port(fuzzed), profile, plan)
            return
        parts = self.parts[plan.threads]
        share = None if plan.seconds is None else plan.seconds / len(parts)
        for part in parts:
            yield part(fuzzed, replace(plan, seconds=share))


AnyMachine = Machine[object, Request, object]
"""A machine, for code that does not look at its variants, calls and observations."""
