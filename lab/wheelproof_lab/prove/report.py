"""States as text: a counterexample is a state, an action, and the state after it."""

from collections.abc import Sequence

from wheelproof_lab.prove.finite import Finite, Places, State, Step, in_words
from wheelproof_lab.prove.system import Action
from wheelproof_lab.prove.terms import BOOL, Field


def shown(world: Finite, before: State, action: Action | None, given: Places) -> str:
    """Return a state as text; with an action, an arrow shows the new value of a changed field."""
    lines: list[str] = []
    after = before
    if action is not None:
        after = world.changed(action.changes, before, given)
        lines.append(f"  {in_words(world, action, given)}")
    for field in world.fields:
        old, new = told(world, field, before), told(world, field, after)
        lines.append(f"    {field.name}: {old}" + ("" if old == new else f"  ->  {new}"))
    if others := [str(number) for number in world.others.values() if number]:
        lines.append(f"    threads that are not shown have of the sums: {', '.join(others)}")
    return "\n".join(lines)


def told(world: Finite, field: Field, state: State) -> str:
    """Return the value of a field as text; for a relation, the elements for which it holds."""
    table = world.table(field, state)
    if not field.sorts:
        return str(table[()])
    if field.result == BOOL:
        return "{" + ", ".join(_name(place) for place, holds in table.items() if holds) + "}"
    return ", ".join(f"{_name(place)} {value}" for place, value in table.items()) or "nothing"


def way(steps: Sequence[Step]) -> str:
    """Return the steps of a run, one on a line."""
    return "\n".join(f"  {number:3}  {step.label}" for number, step in enumerate(steps, 1))


def _name(place: Sequence[str]) -> str:
    return place[0] if len(place) == 1 else f"({', '.join(place)})"
