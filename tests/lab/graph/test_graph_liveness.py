"""What graph mode says about runs that go on for ever, and about what never happens."""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from wheelproof import sync
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.program import (
    Action,
    Invariant,
    LeadsTo,
    PlainField,
    Program,
    Scenario,
    Settings,
    Wakes,
    forget,
)
from wheelproof_explore.runtime.numbers import Actor, thread_of
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.graph.judging.exploration import (
    GraphExploration,
    explore_states,
    graph_program,
)
from wheelproof_lab.graph.judging.liveness import endings
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.worlds.all_programs import BY_DUTY
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.waiting import WAITING
from wheelproof_spec.app.verbs import explore as command
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow


def _explored(build: Callable[[], Scenario], *may_wait: str) -> GraphExploration:
    settings = Settings(may_wait=frozenset(may_wait))
    return explore_states(program("under-test", build, settings))


def _sentences(found: GraphExploration) -> list[str]:
    return [finding.sentence for finding in found.findings]


@pytest.mark.parametrize("one", BY_DUTY["pass with --engine graph"], ids=lambda one: one.name)
def test_what_has_to_pass(one: Program) -> None:
    assert explore_states(one).verdict() is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "writers-starve-readers",
            ["starvation: advancer 1 and advancer 2 and adder can go on for ever, "
             "and adder never ends"],
        ),
        (
            "mailbox-notified-once",
            [
                "lost wake-up: taker 1 waits on arrived for ever, although it should be woken",
                "lost wake-up: taker 2 waits on arrived for ever, although it should be woken",
                "never: every message is taken",
            ],
        ),
        (
            "advance-after-flush-ends",
            [
                "livelock: advance can go on for ever, and advance never ends",
                "never: the task is submitted",
            ],
        ),
    ],
)  # fmt: skip
def test_what_has_to_fail(name: str, expected: list[str]) -> None:
    found = explore_states(
        next(one for one in BY_DUTY["fail with --engine graph"] if one.name == name)
    )
    assert found.verdict() is Verdict.FAIL
    assert sorted(_sentences(found)) == expected


def _spin(*, yields_flag: bool) -> Scenario:
    """One thread looks at a flag again and again until another one has set it, if it does."""
    flag = sync.volatile(False, "flag")

    def wait() -> None:
        while not flag.get():
            forget()

    def other() -> None:
        flag.set(yields_flag)

    return Scenario(threads={"waiter": wait, "other": other})


def test_going_round_is_no_livelock_if_it_takes_an_unfair_scheduler() -> None:
    assert _explored(partial(_spin, yields_flag=True)).verdict() is Verdict.PASS


def test_a_livelock_has_a_way_to_it_and_a_circle() -> None:
    found = _explored(partial(_spin, yields_flag=False))
    (finding,) = found.findings
    assert finding.sentence == "livelock: waiter can go on for ever, and waiter never ends"
    assert [arc.text for arc in finding.path][-1:] == ["other: flag.set(False)"]
    assert [arc.text for arc in finding.circle] == ["waiter: flag.get()"]
    assert "and then these 1 for ever:" in found.details()


def test_who_steps_aside_for_ever() -> None:
    """Two threads that give up as soon as the other one wants: fair, and no end to it."""

    def build() -> Scenario:
        wants = [sync.volatile(False, f"wants {number}") for number in (0, 1)]

        def enter(me: int) -> None:
            while True:
                forget()
                wants[me].set(True)
                if not wants[1 - me].get():
                    break
                wants[me].set(False)
            wants[me].set(False)

        return Scenario(threads={"left": partial(enter, 0), "right": partial(enter, 1)})

    sentences = _sentences(_explored(build))
    assert "livelock: left and right can go on for ever, and left and right never ends" in sentences


def test_circles_are_fair() -> None:
    """Along each circle every thread makes a step or is somewhere unable to."""
    for one in BY_DUTY["fail with --engine graph"]:
        graph = explore_graph(graph_program(one, []))
        for forever in endings(graph):
            states = [forever.states[0], *(arc.target for arc in forever.arcs)]
            for number in graph.threads:
                bit = graph.bit_of(Actor(number))
                makes_steps = any(thread_of(arc.actor) == number for arc in forever.arcs)
                assert makes_steps or any(not graph.owed[state] & bit for state in states)


def _flags(*, sets: bool) -> Scenario:
    asked, answered = sync.volatile(False, "asked"), sync.volatile(False, "answered")

    def ask() -> None:
        asked.set(True)

    def answer() -> None:
        while True:
            forget()
            if asked.get():
                answered.set(sets)

    return Scenario(
        threads={"asker": ask, "server": answer},
        leads_to=[
            LeadsTo(name="who asks is answered", when=asked.get, then=answered.get),
            LeadsTo(name="somebody asks", then=asked.get),
        ],
        sometimes={"answered": answered.get},
    )


def test_leads_to_and_sometimes() -> None:
    assert _explored(partial(_flags, sets=True), "server").verdict() is Verdict.PASS
    sentences = _sentences(_explored(partial(_flags, sets=False), "server"))
    assert sentences == ["never: answered holds in no state", "never: who asks is answered"]


def test_a_promise_that_the_end_breaks() -> None:
    def build() -> Scenario:
        cell = sync.volatile(0, "x")
        promise = LeadsTo(name="x becomes 2", then=lambda: cell.get() == 2)
        return Scenario(threads={"a": partial(cell.set, 1)}, leads_to=[promise])

    (finding,) = _explored(build).findings
    assert (finding.sentence, len(finding.path), finding.circle) == ("never: x becomes 2", 1, ())


def test_a_wakeup_for_no_reason_is_not_owed() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        ready = sync.condition(lock, "ready")
        flag = sync.volatile(False, "flag")

        def wait() -> None:
            with lock:
                while not flag.get():
                    forget()
                    ready.wait()

        def forgetful() -> None:
            with lock:
                flag.set(True)

        return Scenario(
            threads={"waiter": wait, "forgetful": forgetful},
            wakes=[Wakes(condition=ready, when=flag.get)],
        )

    settings = Settings(spurious_wakeups=1, may_wait=frozenset({"waiter"}))
    found = explore_states(program("under-test", build, settings))
    assert _sentences(found) == [
        "lost wake-up: waiter waits on ready for ever, although it should be woken"
    ]


def test_invariants_hold_in_every_state_and_checks_at_the_end() -> None:
    def build() -> Scenario:
        left, right = sync.volatile(0, "left"), sync.volatile(0, "right")

        def move() -> None:
            left.set(1)
            right.set(1)

        def look() -> None:
            assert left.get() == right.get()

        def check() -> None:
            assert right.get() == 2, "right is not 2"

        invariant = Invariant(name="same", cells=(left, right), look=look)
        return Scenario(threads={"a": move}, invariants=[invariant], check=check)

    sentences = _sentences(_explored(build))
    assert sentences[0] == "the invariant same is broken"
    assert sentences[1].startswith("failed check: AssertionError: right is not 2")


class _Box:
    __slots__ = ("cell", "value")

    def __init__(self) -> None:
        self.cell = sync.volatile(0, "cell")
        self.value = 0


def _undeclared(shares: tuple[PlainField, ...]) -> Program:
    """Two threads write a field that is no cell; what a third one does depends on who was last."""

    def build() -> Scenario:
        box = _Box()

        def write(number: int) -> None:
            box.cell.get()
            box.value = number
            box.cell.get()

        def read() -> None:
            box.cell.get()
            if box.value == 2:
                box.cell.set(0)

        threads: dict[str, Action] = {
            f"writer {number}": partial(write, number) for number in (1, 2)
        }
        return Scenario(threads=threads | {"reader": read})

    return program("undeclared", build, shares=shares)


def test_what_threads_share_has_to_be_declared() -> None:
    with pytest.raises(ProgramRejectedError, match="declare it in `shares`"):
        explore_states(_undeclared(()))
    assert explore_states(_undeclared((PlainField(owner=_Box, name="value"),))).findings == ()


@pytest.mark.parametrize("one", WAITING, ids=lambda one: one.name)
def test_programs_of_the_other_engines(one: Program) -> None:
    assert explore_states(one).verdict() is Verdict.PASS


def test_a_part_of_the_graph_cannot_pass() -> None:
    found = explore_states(BY_DUTY["pass with --engine graph"][0], max_states=10)
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.stopped == "the bound on states was reached"


def test_ctrl_c_leaves_an_inconclusive_result() -> None:
    def interrupt(_states: int) -> None:
        raise KeyboardInterrupt

    def build() -> Scenario:
        cells = {f"x{number}": sync.volatile(0, f"x{number}") for number in range(11)}
        return Scenario(threads={name: partial(cell.set, 1) for name, cell in cells.items()})

    found = explore_states(program("many", build), progress=interrupt)
    assert (found.stopped, found.verdict()) == ("interrupted", Verdict.INCONCLUSIVE)
    assert found.states == 1_000


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.declare(parser)
    return command.run(parser.parse_args(arguments))


def test_the_verb(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ("philosophers-left-first", "--engine", "graph", "--json", str(report))
    assert _run(*arguments) == ExitCode.FAIL
    assert "deadlock: " in capsys.readouterr().out
    (one,) = json.loads(report.read_text(encoding="utf-8"))["explorations"]
    assert (one["states"], one["edges"], one["verdict"]) == (391, 924, "fail")
    assert len(one["findings"][0]["path"]) == 4
    assert _run("--all", "--engine", "graph", "--quiet") == ExitCode.PASS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("phase-fair", "--replay", "wp1"), "--replay shows one run"),
        (("phase-fair", "--max-states", "0"), "--max-states has to be at least 1"),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _run(*arguments, "--engine", "graph")
