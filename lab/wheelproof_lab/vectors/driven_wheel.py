"""TimingWheel.tla restricted to driven calls: the calls that lead from state to state.

TLC's labels have no arguments (facts: 2.15). So the generated module has one action for each call
with its arguments, and the action's name tells the call. The module also restricts MCTimingWheel to
one thread that moves the clock only in order to advance: after a move of the clock (`behind`) it
advances before any other call. Calls whose outcome a contract leaves open are left out: a cancel or
a second add of a task that is due and may have run already.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration, tlc_graph
from wheelproof_lab.graph.timer.timing_wheel import WheelBounds
from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.codec.tables import read_template
from wheelproof_spec.components.timer.component import Add, Cancel, TimerCall, TimerConfig
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.states.graph import Edge, StateGraph
from wheelproof_spec.tlc.states.values import State, entries

_MODULE = "DrivenTimingWheel"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenWheel(WheelBounds):
    """The bounds of the model, with a name."""

    name: str

    @property
    def config(self) -> TimerConfig:
        """The configuration of the model's timer."""
        return TimerConfig(tick_ms=self.tick_ms, wheel_size=self.wheel_size)

    def graph(self, toolchain: Toolchain) -> StateGraph:
        """Return the state graph; raises TlcGraphError."""
        with tempfile.TemporaryDirectory(prefix="wheelproof-vectors-") as name:
            folder = Path(name)
            (folder / f"{_MODULE}.tla").write_text(self.module_text(), encoding="utf-8")
            return tlc_graph(
                toolchain,
                TlcConfiguration(
                    module=_MODULE,
                    constants=self.constants(),
                    specification="DrivenSpec",
                    folder=folder,
                ),
            )

    def module_text(self) -> str:
        """Return the module that TLC explores."""
        calls = self._calls()
        definitions = [f"{name} == TRUE /\\ {body}" for name, body in calls.items()]
        following = r" \/ ".join([*calls, "Tick_", "Nothing_", "End_", "Step_"])
        written = "\n".join([*definitions, f"DrivenNext == {following}"])
        return read_template(__file__, f"{_MODULE}.tla").substitute(calls=written)

    def _calls(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for earlier, task in zip(("", *self.tasks), self.tasks, strict=False):
            # Tasks are interchangeable: the first to be added is always the first by name.
            begun = f'adds["{earlier}"] > 0 /\\ ' if earlier else ""
            for number, delay in enumerate(self.delays_ms):
                found[f"Add_{task}_{number}"] = f'{begun}DrivenAdd("{task}", {delay})'
            for action in ("Cancel", "CancelInVain"):
                call = f'{begun}Ready("{task}") /\\ Calm /\\ {action}("{task}")'
                found[f"{action}_{task}"] = call
        return found

    def calls_of(self, graph: StateGraph, walk: Sequence[Edge]) -> Iterator[TimerCall]:
        """Yield the calls that drive a timer along a walk; an unfinished advance is completed."""
        behind = False
        for edge in walk:
            words = edge.action.split("_")
            now = _integer(graph.states[edge.target], "now")
            match words[0]:
                case "Add":
                    yield Add(task=words[1], delay_ms=self.delays_ms[int(words[2])])
                case "Cancel" | "CancelInVain":
                    yield Cancel(task=words[1])
                case "End" | "Nothing":
                    yield Advance(to_ms=now)
                    behind = False
                case _:
                    behind = True
        if behind:
            yield Advance(to_ms=_integer(graph.states[walk[-1].target], "now"))


def submitted(graph: StateGraph, walk: Sequence[Edge]) -> frozenset[tuple[str, int]]:
    """Return the adds that TLC submitted on the walk: each task with the number of its add."""
    found: set[tuple[str, int]] = set()
    for edge in walk:
        before, after = graph.states[edge.source], graph.states[edge.target]
        fates = dict(entries(before["fate"]) or ())
        for task, fate in entries(after["fate"]) or ():
            if fate == "submitted" and fates[task] != fate:
                number = dict(entries(after["adds"]) or ())[task]
                assert isinstance(task, str)
                assert isinstance(number, int)
                found.add((task, number))
    return frozenset(found)


def _integer(state: State, name: str) -> int:
    value = state[name]
    assert isinstance(value, int)
    return value
