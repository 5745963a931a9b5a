"""The graph engine: exact counts, shortest ways to what is wrong, and what it refuses."""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Annotated

import pytest

from support.graph.philosophers import philosophers
from support.graph.plain_view import PlainView
from wheelproof import sync
from wheelproof.sync import GuardedBy
from wheelproof_explore.failures.problems import (
    NondeterminismError,
    ProgramRejectedError,
)
from wheelproof_explore.program import Action, Program, Scenario, forget
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.graph.states.fields import watched_fields
from wheelproof_lab.graph.states.state_graph import ProgramGraph
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_lab.worlds.waiting import WAITING


def _program(build: Callable[[], dict[str, Action]]) -> GraphProgram:
    return GraphProgram(
        name="program",
        build=lambda: ViewedRun(scenario=Scenario(threads=build()), view=PlainView()),
    )


def _counter(holds: Callable[[int], bool]) -> GraphProgram:
    """Two threads add one to a cell, without a lock."""

    def build() -> ViewedRun:
        cell = sync.volatile(0, "x")

        def add() -> None:
            cell.set(cell.get() + 1)

        return ViewedRun(
            scenario=Scenario(threads={"a": add, "b": add}),
            view=PlainView(),
            invariants={"holds": lambda: holds(cell.get())},
            sometimes={"one": lambda: cell.get() == 1, "three": lambda: cell.get() == 3},
        )

    return GraphProgram(name="counter", build=build)


@pytest.mark.parametrize(("count", "states", "edges"), [(2, 19, 22), (3, 87, 153), (4, 391, 924)])
@pytest.mark.parametrize("substrate", SubstrateKind)
def test_philosophers(count: int, states: int, edges: int, substrate: SubstrateKind) -> None:
    graph = explore_graph(philosophers(count), substrate=substrate)
    assert (len(graph.observations), graph.edge_count()) == (states, edges)
    ((what, path),) = graph.failure_paths().items()
    assert what.startswith("deadlock: ")
    assert len(path) == count


def test_ordered_forks_never_deadlock() -> None:
    assert explore_graph(philosophers(3, ordered=True)).failures == {}


def test_a_broken_invariant_has_a_shortest_way() -> None:
    graph = explore_graph(_counter(lambda value: value < 2))
    ((what, path),) = graph.failure_paths().items()
    assert what == "the invariant holds is broken"
    assert len(path) == 4


def test_what_is_sometimes_and_what_never() -> None:
    graph = explore_graph(_counter(lambda value: value < 3))
    assert graph.failures == {}
    assert graph.unseen == {"three"}


def test_a_thread_that_raises() -> None:
    def build() -> dict[str, Action]:
        cell = sync.volatile(0, "x")

        def divide() -> None:
            if cell.get() != 0:
                raise ValueError("x has changed")

        return {"divide": divide, "set": lambda: cell.set(1)}

    graph = explore_graph(_program(build))
    ((what, path),) = graph.failure_paths().items()
    assert what == "divide raised ValueError: x has changed"
    assert [arc.text for arc in path] == ["set: x.set(1)", "divide: x.get()"]


class _Box:
    __slots__ = ("lock", "value")

    value: Annotated[int, GuardedBy("lock")]

    def __init__(self) -> None:
        self.lock = sync.lock("box")
        self.value = 0

    def put(self, value: int) -> None:
        with self.lock:
            self.value = value

    def copy_to(self, cell: sync.Volatile[int]) -> None:
        with self.lock:
            value = self.value
        cell.set(value)


def _boxed(watched: tuple[type, ...]) -> GraphProgram:
    def build() -> ViewedRun:
        box, cell = _Box(), sync.volatile(0, "copy")
        threads: dict[str, Action] = {
            "put": lambda: box.put(1),
            "copy": lambda: box.copy_to(cell),
        }
        return ViewedRun(
            scenario=Scenario(threads=threads),
            view=PlainView(),
            sometimes={
                "old": lambda: cell.get() == 0 and box.value == 1,
                "new": lambda: cell.get() == 1,
            },
        )

    return GraphProgram(name="box", build=build, watched=watched)


def test_a_guarded_field_belongs_to_the_state() -> None:
    """Its value is read in no step: only the watch tells the two orders apart."""
    assert explore_graph(_boxed((_Box,))).unseen == set()


def test_the_watch_ends() -> None:
    slot = vars(_Box)["value"]
    with watched_fields([_Box]):
        assert vars(_Box)["value"] is not slot
    assert vars(_Box)["value"] is slot


def test_a_bound_ends_the_search() -> None:
    graph = explore_graph(philosophers(3), max_states=10)
    assert not graph.complete
    assert len(graph.observations) == 10


def test_a_loop_has_an_end_once_it_forgets() -> None:
    def build() -> dict[str, Action]:
        flag = sync.volatile(0, "flag")

        def toggle() -> None:
            while True:
                forget()
                flag.set(1 - flag.get())

        return {"toggle": toggle}

    graph = explore_graph(_program(build), max_states=100)
    assert graph.complete
    assert (len(graph.observations), graph.edge_count()) == (4, 4)


def test_a_program_that_is_not_deterministic() -> None:
    runs = itertools.count()

    def build() -> dict[str, Action]:
        cells = [sync.volatile(0, name) for name in "xy"]
        number = next(runs) % 2
        return {"a": lambda: cells[number].set(1), "b": lambda: cells[0].set(2)}

    with pytest.raises(NondeterminismError, match="not deterministic"):
        explore_graph(_program(build))


def test_an_object_that_has_no_name() -> None:
    def build() -> dict[str, Action]:
        cell = sync.volatile(None, "x")
        return {"a": lambda: sync.volatile(object(), "y").set(cell.get())}

    with pytest.raises(ProgramRejectedError, match="shares an object of the class object"):
        explore_graph(_program(build))


@pytest.mark.parametrize("program", WAITING, ids=lambda program: program.name)
def test_steps_that_need_not_be_made(program: Program) -> None:
    """Conditions, time-outs and read-write locks: the graph is the same with every step made."""
    plain = GraphProgram(
        name=program.name,
        build=lambda: ViewedRun(scenario=program.build(), view=PlainView()),
        settings=program.settings,
    )
    fast, slow = explore_graph(plain), explore_graph(plain, commuting=False)
    assert len(fast.observations) == len(slow.observations)
    assert _labels(fast) == _labels(slow)
    assert sorted(fast.failures.values()) == sorted(slow.failures.values())


def _labels(graph: ProgramGraph) -> Counter[tuple[int, str]]:
    return Counter((len(graph.arcs[arc.target]), arc.text) for arcs in graph.arcs for arc in arcs)
