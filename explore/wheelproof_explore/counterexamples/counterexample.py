"""A failing run in readable form: a table with a column for each thread, and a schedule line."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runs.schedule import encode
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.numbers import Actor, choice_of, thread_of
from wheelproof_explore.runtime.thread_steps import QUIET
from wheelproof_explore.strategies.replay import DeviationStrategy, ReplayStrategy
from wheelproof_explore.strategies.strategy import run

Deviation = tuple[int, str, str]
"""A step number (from 1), the thread that would run by default, and the thread that ran."""

_WIDEST = 52
_FIRST_ROWS = 150
_LAST_ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """One event: the actor, its thread's name, the operation with its result, the source line."""

    actor: Actor
    thread: str
    text: str
    line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingInterleaving:
    """A failing run: its steps, its threads in column order, and the schedule that repeats it.

    `deviations` are the steps, counted from 1, at which the run departs from the default schedule,
    which runs each thread as far as it can. `left_out` are operations of the program that the
    failure does not need: the thread, and the number of the operation in it, from 1.
    """

    program: str
    failure: Failure
    threads: tuple[str, ...]
    steps: tuple[ShownStep, ...]
    deviations: tuple[Deviation, ...]
    left_out: tuple[tuple[str, int], ...]
    schedule: str
    flags: str = ""

    def line(self) -> str:
        """Return the schedule in one line."""
        return schedule_line(self.deviations)

    def switches(self) -> tuple[str, ...]:
        """Return the source lines of each deviation: where one thread stops and another goes on."""
        said: list[str] = []
        for number, usual, chosen in self.deviations:
            later = self.steps[number - 1 :]
            stops = next((step.line for step in later if step.thread == usual), "")
            if later and later[0].line and later[0].thread == usual:
                said.append(f"step {number}: {usual}: {later[0].text}, at {later[0].line}")
            elif later and (stops or later[0].line):
                said.append(f"step {number}: {usual} stops before {stops or 'its end'}")
                said.append(f"{'':>{len(str(number)) + 7}}{chosen} goes on: {later[0].line}")
        return tuple(said)

    def left_out_line(self) -> str:
        """Return the operations that are left out, in one line; empty if there are none."""
        if not self.left_out:
            return ""
        parts = (f"{thread} {place}" for thread, place in self.left_out)
        return f"left out, operations that it does not need: {', '.join(parts)}"

    def command(self) -> str:
        """Return the command that repeats the run."""
        return f"wheelproof explore {quote(self.program)}{self.flags} --replay {self.schedule}"

    def told(self, repeat: str) -> list[str]:
        """Return all of it in lines; `repeat` is how to repeat the run."""
        lines = [*self.switches(), self.line()]
        if self.left_out:
            lines.append(self.left_out_line())
        return [self.table(), *(f"  {line}" for line in (*lines, f"repeat: {repeat}"))]

    def table(self) -> str:
        """Return the steps as a table with one column for each thread."""
        return table_of(self.threads, self.steps, [number for number, _, _ in self.deviations])


def run_of(world: World, actors: Sequence[Actor]) -> FailingInterleaving | None:
    """Replay a schedule and return the run as a counterexample; None if it does not fail."""
    strategy = ReplayStrategy(actors)
    execution = Execution(world, logging=True)
    try:
        run(execution, strategy)
        log = tuple(zip(execution.runtime.log or (), execution.runtime.lines, strict=True))
        failure = execution.judge()
        if failure is None:
            return None
        columns = column_names(execution.threads)
        # The first round of a cycle is enough.
        cycle = execution.cycle()
        actors = tuple(execution.actors[: None if cycle is None else cycle.end])
        operations = execution.scenario.operations()
    finally:
        execution.close()
    steps = tuple(
        ShownStep(
            actor=actor,
            thread=columns[thread_of(actor)],
            text=text,
            line="" if line is None else str(line),
        )
        for actor, (text, line) in zip(actors, log, strict=False)
    )
    return FailingInterleaving(
        program=world.program.name,
        failure=failure,
        threads=tuple(columns[number] for number in sorted(columns)),
        steps=steps,
        deviations=_deviations(world, actors, columns),
        left_out=tuple(
            (operations[number][0], operations[number][1] + 1)
            for number in sorted(world.program.without)
            if number < len(operations)
        ),
        schedule=encode(world.program, actors),
        flags=world.program.options,
    )


def table_of(threads: Sequence[str], steps: Sequence[ShownStep], marked: Container[int]) -> str:
    """Return steps as a table with a column for each thread; steps in `marked` (from 1) get a *."""
    columns = {name: place for place, name in enumerate(threads)}
    widths = [len(name) for name in threads]
    for step in steps:
        place = columns[step.thread]
        widths[place] = max(widths[place], min(len(step.text), _WIDEST))
    lines = [
        _row("step", threads, widths),
        _row("", ["-" * width for width in widths], widths),
    ]
    for number, step in enumerate(steps, start=1):
        if step.text in QUIET:
            continue
        if _FIRST_ROWS < number <= len(steps) - _LAST_ROWS:
            if number == _FIRST_ROWS + 1:
                lines.append(f"  ...  {len(steps) - _FIRST_ROWS - _LAST_ROWS} more steps")
            continue
        cells = ["" for _ in widths]
        cells[columns[step.thread]] = step.text
        lines.append(_row(f"{number}{'*' if number in marked else ''}", cells, widths))
    return "\n".join(lines)


def schedule_line(deviations: Sequence[Deviation]) -> str:
    """Return a schedule in one line."""
    if not deviations:
        return "default schedule: each thread runs as far as it can"
    parts = (f"at step {step} {usual} -> {chosen}" for step, usual, chosen in deviations)
    return f"default schedule, except: {', '.join(parts)}"


def _deviations(
    world: World, actors: Sequence[Actor], names: dict[Actor, str]
) -> tuple[Deviation, ...]:
    strategy = DeviationStrategy(dict(enumerate(actors)))
    execution = Execution(world)
    try:
        run(execution, strategy)
    finally:
        execution.close()
    return tuple(
        (step, names.get(thread_of(usual), "?"), chosen_name(actor, names))
        for step, (usual, actor) in enumerate(zip(strategy.defaults, actors, strict=False), start=1)
        if usual != actor
    )


def chosen_name(actor: Actor, names: Mapping[Actor, str]) -> str:
    """Return the name of the thread that makes a step, with the value that it chooses, if any."""
    name, choice = names[thread_of(actor)], choice_of(actor)
    return f"{name} (choosing {choice})" if choice else name


def column_names(threads: Mapping[int, ModelThread]) -> dict[Actor, str]:
    """Return the threads' names; a name that several threads share gets the number appended."""
    taken = [thread.name for thread in threads.values()]
    return {
        thread.number: thread.name
        if taken.count(thread.name) == 1
        else f"{thread.name} #{thread.number}"
        for thread in threads.values()
    }


def _row(first: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = (
        (cell if len(cell) <= width else cell[: width - 1] + "…").ljust(width)
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"{first:>5}  {'  '.join(fitted)}".rstrip()
