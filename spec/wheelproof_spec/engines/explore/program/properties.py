"""What a program promises beyond single states; graph mode alone can check it.

def scenario() -> Scenario:
    ...
    return Scenario(
        threads={"producer": produce, "consumer": consume},
        sometimes={"full": lambda: size.get() == 2},
        leads_to=[LeadsTo(name="every item is taken", when=has_item, then=is_empty)],
        wakes=[Wakes(condition=not_empty, when=has_item)],
    )

A predicate reads cells and fields and changes nothing. Threads run under weak fairness: one that
can always make a step makes one in the end. A wake-up for no reason is never owed.
"""

from collections.abc import Callable
from dataclasses import dataclass

Predicate = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadsTo:
    """Whenever `when` holds, `then` holds then or later; without `when`: at least once."""

    name: str
    then: Predicate
    when: Predicate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakes:
    """No thread waits on `condition` for ever while `when` holds."""

    condition: object
    when: Predicate
