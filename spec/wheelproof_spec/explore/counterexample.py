"""A failing run as people read it: a table with a column for each thread, and one line."""

from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_spec.explore.accesses import THREAD_MASK, Actor
from wheelproof_spec.explore.driver import run
from wheelproof_spec.explore.engines.replay import DeviationStrategy, ReplayStrategy
from wheelproof_spec.explore.execution import Execution, World
from wheelproof_spec.explore.failures import Failure
from wheelproof_spec.explore.schedule import encode

_WIDEST = 52
_FIRST_ROWS = 150
_LAST_ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event: who made it, and what it was, with its result."""

    actor: Actor
    thread: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A failing run: its steps, the threads in the order of their columns, and how to repeat it.

    `deviations` are the steps, counted from 1, at which the run departs from running each thread
    as far as it can: who would have gone on, and who does.
    """

    program: str
    failure: Failure
    threads: tuple[str, ...]
    steps: tuple[Step, ...]
    deviations: tuple[tuple[int, str, str], ...]
    schedule: str

    def line(self) -> str:
        """Return the schedule in one line."""
        if not self.deviations:
            return "default schedule: each thread runs as far as it can"
        parts = (f"at step {step} {usual} -> {chosen}" for step, usual, chosen in self.deviations)
        return f"default schedule, except: {', '.join(parts)}"

    def table(self) -> str:
        """Return the steps as a table with one column for each thread."""
        columns = {name: place for place, name in enumerate(self.threads)}
        widths = [len(name) for name in self.threads]
        for step in self.steps:
            place = columns[step.thread]
            widths[place] = max(widths[place], min(len(step.text), _WIDEST))
        marked = {number for number, _, _ in self.deviations}
        lines = [
            _row("step", self.threads, widths),
            _row("", ["-" * one for one in widths], widths),
        ]
        for number, step in enumerate(self.steps, start=1):
            if _FIRST_ROWS < number <= len(self.steps) - _LAST_ROWS:
                if number == _FIRST_ROWS + 1:
                    lines.append(f"  ...  {len(self.steps) - _FIRST_ROWS - _LAST_ROWS} more steps")
                continue
            cells = ["" for _ in widths]
            cells[columns[step.thread]] = step.text
            lines.append(_row(f"{number}{'*' if number in marked else ''}", cells, widths))
        return "\n".join(lines)


def run_of(world: World, actors: Sequence[Actor]) -> Counterexample | None:
    """Replay a schedule and return the run as a counterexample; None if it does not fail."""
    strategy = ReplayStrategy(actors)
    execution = Execution(world, logging=True)
    try:
        run(execution, strategy)
        log = tuple(execution.runtime.log or ())
        failure = execution.judge()
        if failure is None:
            return None
        names = {thread.number: thread.name for thread in execution.threads.values()}
        actors = tuple(execution.actors)
    finally:
        execution.close()
    columns = _distinct(names)
    steps = tuple(
        Step(actor=actor, thread=columns[actor & THREAD_MASK], text=text)
        for actor, text in zip(actors, log, strict=True)
    )
    return Counterexample(
        program=world.program.name,
        failure=failure,
        threads=tuple(columns[number] for number in sorted(columns)),
        steps=steps,
        deviations=_deviations(world, actors, columns),
        schedule=encode(world.program, actors),
    )


def _deviations(
    world: World, actors: Sequence[Actor], names: dict[int, str]
) -> tuple[tuple[int, str, str], ...]:
    strategy = DeviationStrategy(dict(enumerate(actors)))
    execution = Execution(world)
    try:
        run(execution, strategy)
    finally:
        execution.close()
    return tuple(
        (step, names.get(usual & THREAD_MASK, "?"), _chosen(actor, names))
        for step, (usual, actor) in enumerate(zip(strategy.defaults, actors, strict=False), start=1)
        if usual != actor
    )


def _chosen(actor: Actor, names: dict[int, str]) -> str:
    choice = actor - (actor & THREAD_MASK)
    name = names[actor & THREAD_MASK]
    return f"{name} (choosing {choice // (THREAD_MASK + 1)})" if choice else name


def _distinct(names: dict[int, str]) -> dict[int, str]:
    """Return the names, with the number behind those that several threads share."""
    taken = list(names.values())
    return {
        number: name if taken.count(name) == 1 else f"{name} #{number}"
        for number, name in names.items()
    }


def _row(first: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = (
        (cell if len(cell) <= width else cell[: width - 1] + "…").ljust(width)
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"{first:>5}  {'  '.join(fitted)}".rstrip()
