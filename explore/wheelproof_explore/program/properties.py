"""Properties beyond single states that a program promises; graph mode alone can check them.

def scenario() -> Scenario:
    ...
    return Scenario(
        threads={"producer": produce, "consumer": consume},
        sometimes={"full": lambda: size.get() == 2},
        leads_to=[LeadsTo(name="every item is taken", when=has_item, then=is_empty)],
        wakes=[Wakes(condition=not_empty, when=has_item)],
    )

A predicate reads cells and fields and changes nothing. Threads run under weak fairness: a thread
that can always make a step makes one in the end. Fairness never demands a spurious wake-up.
"""

from collections.abc import Callable
from dataclasses import dataclass

Predicate = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadsTo:
    """The property that whenever `when` holds, `then` holds then or later (no `when`: once)."""

    name: str
    then: Predicate
    when: Predicate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakes:
    """The property that no thread waits on `condition` for ever while `when` holds."""

    condition: object
    when: Predicate
