"""Explains a counterexample in terms of the model: the action, its thread, what changed.

TLC 2.15 does not print an action's arguments. The models keep a thread's local state in variables
that are functions of the thread, above all `pc`, so the thread is the only argument at which they
changed. In a model without threads the same argument is the object of the action.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from wheelproof_spec.tlc.running.report import Counterexample, Step
from wheelproof_spec.tlc.states.values import Record, State, Value, entries, show, sort_key

_CONTROL = "pc"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedStep:
    """One step of a counterexample.

    `actor` is the thread, or the object of the action, None when the change does not show it;
    `changes` are sentences like ``pc[t1]: "idle" -> "busy"``.
    """

    number: int
    action: str
    actor: str | None
    is_thread: bool
    changes: tuple[str, ...]

    def headline(self) -> str:
        """Return the number, the action and its actor."""
        if self.actor is None:
            return f"{self.number}. {self.action}"
        who = f"thread {self.actor}" if self.is_thread else self.actor
        return f"{self.number}. {self.action}, {who}"


def explain(counterexample: Counterexample) -> tuple[ExplainedStep, ...]:
    """Return the steps from state 2 on; state 1 is the initial one and has no action."""
    pairs = zip(counterexample.steps, counterexample.steps[1:], strict=False)
    return tuple(
        _explained(number, before.state, step)
        for number, (before, step) in enumerate(pairs, start=2)
    )


def explain_text(counterexample: Counterexample) -> str:
    """Return the whole counterexample as lines of text."""
    lines = ["1. initially"]
    lines += [
        f"     {name} = {show(value)}"
        for name, value in sorted(counterexample.steps[0].state.items())
    ]
    for step in explain(counterexample):
        lines.append(step.headline())
        lines += [f"     {change}" for change in step.changes or ("nothing changes",)]
    if counterexample.stutters:
        lines.append("then nothing happens any more, for ever")
    if counterexample.back_to is not None:
        action = f" by {counterexample.back_action}" if counterexample.back_action else ""
        lines.append(f"then back to state {counterexample.back_to}{action}, and so on for ever")
    return "\n".join(lines)


def changes(before: State, after: State) -> tuple[str, ...]:
    """Return one sentence for each part of the state that differs, variables in order."""
    return tuple(
        sentence
        for name in sorted(before.keys() | after.keys())
        for sentence in _variable(name, before, after)
    )


def _explained(number: int, before: State, step: Step) -> ExplainedStep:
    actor = _actor(before, step.state)
    return ExplainedStep(
        number=number,
        action=f"{step.action or 'Init'}{step.arguments}",
        actor=None if actor is None or step.arguments else show_actor(actor),
        is_thread=_CONTROL in before,
        changes=changes(before, step.state),
    )


def show_actor(actor: Value) -> str:
    """Return the text of an actor, without the quotes of a string."""
    return actor if isinstance(actor, str) else show(actor)


def _variable(name: str, before: State, after: State) -> Iterable[str]:
    if name not in before or name not in after:
        yield f"{name}: {'appears' if name in after else 'disappears'}"
    else:
        yield from _difference(name, before[name], after[name])


def _difference(path: str, old: Value, new: Value) -> Iterable[str]:
    if old == new:
        return
    if isinstance(old, frozenset) and isinstance(new, frozenset):
        yield from _set_difference(path, old, new)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) != len(new):
        yield _sequence_difference(path, old, new)
    else:
        old_pairs, new_pairs = entries(old), entries(new)
        if old_pairs is None or new_pairs is None:
            yield f"{path}: {show(old)} -> {show(new)}"
        else:
            yield from _function_difference(path, old, dict(old_pairs), dict(new_pairs))


def _set_difference(path: str, old: Set[Value], new: Set[Value]) -> Iterable[str]:
    for word, items in (("loses", old - new), ("gains", new - old)):
        if items:
            yield f"{path} {word} {', '.join(show(item) for item in sorted(items, key=sort_key))}"


def _sequence_difference(path: str, old: tuple[Value, ...], new: tuple[Value, ...]) -> str:
    if len(new) == len(old) + 1 and new[:-1] == old:
        return f"{path}: {show(new[-1])} appended"
    if len(old) == len(new) + 1 and old[1:] == new:
        return f"{path}: head {show(old[0])} removed"
    return f"{path}: {show(old)} -> {show(new)}"


def _function_difference(
    path: str, whole: Value, old: Mapping[Value, Value], new: Mapping[Value, Value]
) -> Iterable[str]:
    for argument in sorted(old.keys() | new.keys(), key=sort_key):
        part = _part(path, whole, argument)
        if argument not in new:
            yield f"{part}: gone, was {show(old[argument])}"
        elif argument not in old:
            yield f"{part}: new, {show(new[argument])}"
        else:
            yield from _difference(part, old[argument], new[argument])


def _part(path: str, whole: Value, argument: Value) -> str:
    """Return the path of a part: ``.field`` for a record inside a variable, else ``[argument]``."""
    is_inside = "[" in path
    if is_inside and isinstance(whole, Record) and isinstance(argument, str):
        return f"{path}.{argument}"
    return f"{path}[{show(argument)}]"


def _actor(before: State, after: State) -> "Value | None":
    """Return the argument at which the functions of the state changed, if there is only one."""
    threads = _arguments(before.get(_CONTROL))
    changed = {
        name: arguments
        for name in before
        if (arguments := _changed_arguments(before[name], after.get(name)))
    }
    if _CONTROL in changed and len(changed[_CONTROL]) == 1:
        return next(iter(changed[_CONTROL]))
    candidates = [
        arguments
        for name, arguments in changed.items()
        if not threads or _arguments(before[name]) == threads
    ]
    common = frozenset[Value]().union(*candidates)
    return next(iter(common)) if len(common) == 1 else None


def _arguments(value: "Value | None") -> frozenset[Value]:
    pairs = None if value is None else entries(value)
    return frozenset(argument for argument, _ in pairs or ())


def _changed_arguments(old: Value, new: "Value | None") -> frozenset[Value]:
    old_pairs = entries(old)
    new_pairs = None if new is None else entries(new)
    if old_pairs is None or new_pairs is None:
        return frozenset()
    after = dict(new_pairs)
    return frozenset(
        argument for argument, value in old_pairs if argument in after and after[argument] != value
    )
