"""The page of an exploration: one HTML file that shows a run step by step.

Without JavaScript it is a table of all steps. With JavaScript, the reader chooses a step, and the
state after that step is shown beside the table.
"""

import linecache
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from wheelproof_explore.counterexamples.recording import Hold, RunRecording, Snapshot
from wheelproof_explore.failures.places import SourceLine
from wheelproof_explore.result import Exploration

_AROUND = 4
"""So many lines of the source are shown before and behind each that made a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBar:
    """A lock that a thread holds at one step: the place of its bar, and its meaning.

    `phase` is "taken", "held" or "given"; `lock` the lock's number among the objects.
    """

    lane: int
    lock: int
    name: str
    phase: str
    shared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """The cell of a thread at one step in the table."""

    text: str
    bars: tuple[HoldBar, ...]
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One step: a cell for each thread, the changes, and the thread that usually goes on instead.

    `line` is the line of the program that made the step.
    """

    cells: tuple[TableCell, ...]
    line: SourceLine | None
    changes: tuple[str, ...]
    instead_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLine:
    """A line of the program's source; `gap` tells that lines before it are left out."""

    file: str
    number: int
    text: str
    gap: bool

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return Path(self.file).name


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """All states of a run: the first values, and the changes and the thread of each step.

    `threads` has what the threads do before the first step and after each step. `lines` has the
    place of each step's line in the shown source, None for a step without one.
    """

    first: tuple[str, ...]
    changes: tuple[dict[int, str], ...]
    threads: tuple[tuple[str, ...], ...]
    by: tuple[int, ...]
    lines: tuple[int | None, ...]


def render_exploration(exploration: Exploration, repeat: str = "") -> str:
    """Return the page of an exploration that has a recording.

    `repeat` is the command that repeats the run, by default that of the verb.
    """
    recording = exploration.recording
    if recording is None:
        raise ValueError(f"{exploration.program}: explored without a recording")
    found, source = exploration.counterexample, source_of(recording)
    environment = Environment(
        loader=PackageLoader("wheelproof_explore.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("exploration.html.jinja").render(
        exploration=exploration,
        found=found,
        repeat=repeat or ("" if found is None else found.command()),
        recording=recording,
        rows=rows_of(exploration, recording),
        lanes=[len(lanes) for lanes in _lanes(recording)],
        held=sorted({lock for lanes in _lanes(recording) for lock in lanes}),
        changing=sorted({place for changed in recording.changes() for place, _ in changed}),
        source=source,
        states=asdict(states_of(recording, source)),
        version=version("wheelproof"),
    )


def rows_of(exploration: Exploration, recording: RunRecording) -> tuple[Row, ...]:
    """Return the rows of the table."""
    found = exploration.counterexample
    switches = {} if found is None else {step: usual for step, usual, _ in found.deviations}
    lanes = _lanes(recording)
    rows: list[Row] = []
    before = recording.beginning
    for number, (step, changed) in enumerate(
        zip(recording.steps, recording.changes(), strict=True), start=1
    ):
        cells = tuple(
            TableCell(
                text=step.text if thread == step.thread else "",
                bars=_bars(recording, lanes[thread], thread, before, step.after),
                waits=thread in step.after.waiting,
            )
            for thread in range(len(recording.threads))
        )
        changes = tuple(f"{recording.objects[place]}: {value}" for place, value in changed)
        rows.append(
            Row(cells=cells, line=step.line, changes=changes, instead_of=switches.get(number))
        )
        before = step.after
    return tuple(rows)


def source_of(recording: RunRecording) -> tuple[ShownLine, ...]:
    """Return the lines that made steps, with those around them, file by file."""
    wanted: dict[str, set[int]] = {}
    for step in recording.steps:
        if step.line is not None:
            around = range(step.line.number - _AROUND, step.line.number + _AROUND + 1)
            wanted.setdefault(step.line.file, set()).update(around)
    shown: list[ShownLine] = []
    for file, numbers in wanted.items():
        lines = linecache.getlines(file)
        before = 0
        for number in sorted(numbers & {*range(1, len(lines) + 1)}):
            text = lines[number - 1].rstrip("\n")
            shown.append(ShownLine(file=file, number=number, text=text, gap=number != before + 1))
            before = number
    return tuple(shown)


def states_of(recording: RunRecording, source: tuple[ShownLine, ...] = ()) -> States:
    """Return the data for the script of the page."""
    places = {(line.file, line.number): place for place, line in enumerate(source)}
    moments = [recording.beginning, *(step.after for step in recording.steps)]
    return States(
        first=recording.beginning.values,
        changes=tuple(dict(changed) for changed in recording.changes()),
        threads=tuple(moment.threads for moment in moments),
        by=tuple(step.thread for step in recording.steps),
        lines=tuple(
            None if step.line is None else places.get((step.line.file, step.line.number))
            for step in recording.steps
        ),
    )


def _bars(
    recording: RunRecording, lanes: dict[int, int], thread: int, before: Snapshot, after: Snapshot
) -> tuple[HoldBar, ...]:
    held_before, held_after = _held(before, thread), _held(after, thread)
    bars: list[HoldBar] = []
    for lock in sorted(held_before | held_after, key=lanes.__getitem__):
        phase = "given" if lock not in held_after else "held" if lock in held_before else "taken"
        hold = held_after.get(lock) or held_before[lock]
        bars.append(
            HoldBar(
                lane=lanes[lock],
                lock=lock,
                name=recording.objects[lock],
                phase=phase,
                shared=hold.shared,
            )
        )
    return tuple(bars)


def _held(moment: Snapshot, thread: int) -> dict[int, Hold]:
    return {hold.lock: hold for hold in moment.holds if hold.thread == thread}


def _lanes(recording: RunRecording) -> list[dict[int, int]]:
    """Return for each thread the lane of each lock that it ever holds, in the order of taking."""
    lanes: list[dict[int, int]] = [{} for _ in recording.threads]
    for moment in [recording.beginning, *(step.after for step in recording.steps)]:
        for hold in moment.holds:
            mine = lanes[hold.thread]
            mine.setdefault(hold.lock, len(mine))
    return lanes
