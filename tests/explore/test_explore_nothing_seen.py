"""A pass says that something was seen: programs of which the checker sees nothing are none."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from support.explore.exploring import explored, make
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.failures.problems import (
    InputRejectedError,
    NondeterminismError,
    ProgramRejectedError,
)
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import (
    Action,
    Invariant,
    Program,
    PublicOperations,
    Scenario,
)
from wheelproof_explore.tasks.imported import imported
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.graph.judging.exploration import explore_states
from wheelproof_lab.worlds.making import discarding
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.history.linearizability.models import Registers, Write
from wheelproof_spec.history.linearizability.told import linearizable

pytestmark = pytest.mark.slow


class _Counter:
    def __init__(self) -> None:
        self.n = 0

    def lose(self) -> None:
        value = self.n
        self.n = value + 1

    def check(self) -> None:
        assert self.n == 2


def _two(action: Action, check: Action | None = None) -> Scenario:
    return Scenario(threads={"a": action, "b": action}, check=check)


def _plain_attribute() -> Scenario:
    counter = _Counter()
    return _two(counter.lose, counter.check)


def _lock_of_threading() -> Scenario:
    counter, lock = _Counter(), threading.Lock()

    def lose() -> None:
        with lock:
            counter.lose()

    return _two(lose)


def _asyncio() -> Scenario:
    async def lose() -> None:
        await asyncio.sleep(0)

    return _two(lambda: asyncio.run(lose()))


def _locks_of_their_own() -> Scenario:
    counter = _Counter()

    def lose() -> None:
        with sync.lock("lock"):
            counter.lose()

    return _two(lose)


def _reads_alone() -> Scenario:
    counter, limit = _Counter(), sync.volatile(2, "limit")

    def lose() -> None:
        if counter.n < limit.get():
            counter.lose()

    return _two(lose)


def _started_and_joined() -> Scenario:
    counter = _Counter()

    def run() -> None:
        workers = [sync.thread(counter.lose, name) for name in ("one", "other")]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return Scenario(threads={"main": run}, check=counter.check)


def _observed_by_an_invariant() -> Scenario:
    cell = sync.volatile(0, "x")
    looks = Invariant(name="looks", cells=[cell], look=lambda: None)
    return Scenario(threads={"a": partial(cell.set, 1)}, invariants=[looks])


def _public_operations() -> Scenario:
    counter = _Counter()
    history = PublicOperations(linearizable(Registers(0)))
    lose = discarding(partial(history.call, Write(1), counter.lose))
    return Scenario(threads={"a": lose, "b": lose}, history=history)


def _cells(*more: Action) -> Scenario:
    cell = sync.volatile(0, "x")
    threads: dict[str, Action] = {"a": partial(cell.set, 1), "b": partial(cell.set, 2)}
    return Scenario(threads=threads | {f"c{place}": action for place, action in enumerate(more)})


_NOTHING = "no two threads were seen to share anything that changes; the checker sees locks"


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (_plain_attribute, _NOTHING),
        (_lock_of_threading, _NOTHING),
        (_asyncio, _NOTHING),
        (_locks_of_their_own, _NOTHING),
        (_reads_alone, _NOTHING),
        (_started_and_joined, _NOTHING),
        (_observed_by_an_invariant, _NOTHING),
        (_public_operations, _NOTHING),
        (partial(_cells, _Counter().lose), "nothing was seen of what c0 did"),
    ],
)
def test_a_program_of_which_nothing_is_seen_is_inconclusive(
    build: Callable[[], Scenario], why: str
) -> None:
    found = explored(build)
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.summary().startswith(why)


@pytest.mark.parametrize("build", [_plain_attribute, _locks_of_their_own, _started_and_joined])
def test_graph_mode_says_so_too(build: Callable[[], Scenario]) -> None:
    found = explore_states(make(build))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.summary().startswith(_NOTHING)


def test_a_thread_that_only_starts_others_is_seen() -> None:
    def build() -> Scenario:
        counter = sync.atomic_integer(0, "counter")

        def count() -> None:
            counter.add_and_get(1)

        def run() -> None:
            workers = [sync.thread(count, name) for name in ("one", "other")]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        return Scenario(threads={"main": run})

    assert explored(build).verdict() is Verdict.PASS


def test_threads_in_pairs_share_enough() -> None:
    other = partial(_cells, lambda: sync.volatile(0, "own").set(1))
    assert explored(other).verdict() is Verdict.PASS


async def _coroutine() -> None:
    await asyncio.sleep(0)


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("thread", [True, False])
def test_an_action_that_is_never_run_is_refused(thread: bool) -> None:
    """A coroutine that nobody awaits does nothing, in a thread and as a check."""
    silent = cast("Action", _coroutine)

    def build() -> Scenario:
        if thread:
            return _cells(silent)
        return Scenario(threads=_cells().threads, check=silent)

    with pytest.raises(ProgramRejectedError, match="so that a call does nothing"):
        explored(build)


@pytest.mark.parametrize("how", [explore, explore_states])
def test_a_check_that_answers_false_is_refused(how: Callable[[Program], object]) -> None:
    check = cast("Action", lambda: False)
    program = make(lambda: Scenario(threads=_cells().threads, check=check))
    with pytest.raises(ProgramRejectedError, match="answers False, and a check has to raise"):
        how(program)


def test_a_failure_that_does_not_come_again_is_no_pass() -> None:
    calls = count()

    def check() -> None:
        assert next(calls) > 0

    with pytest.raises(NondeterminismError, match="a run failed, and its repetition did not"):
        explore(make(lambda: Scenario(threads=_cells().threads, check=check)))


def test_what_an_engine_cannot_judge_does_not_pass() -> None:
    found = explored(lambda: replace(_cells(), sometimes={"never": lambda: False}))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "judged by --engine graph alone" in found.summary()
    with pytest.raises(ProgramRejectedError, match="which graph mode cannot judge"):
        explore_states(make(_public_operations))


def test_without_assertions_nothing_is_explored() -> None:
    command = [sys.executable, "-O", "-m", "wheelproof_spec.app.cli", "explore", "lost-update"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.INPUT_REJECTED
    assert "without its assertions" in done.stderr


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit()], ids=repr)
@pytest.mark.parametrize("engine", [Engine.OPTIMAL, Engine.SAMPLE])
def test_a_program_that_exits_is_a_failure_and_never_the_end(
    error: BaseException, engine: Engine
) -> None:
    def leave() -> None:
        raise error

    checked = explore(
        make(lambda: Scenario(threads=_cells().threads, check=leave)), Options(engine=engine)
    )
    assert checked.counterexample is not None
    assert checked.counterexample.failure.kind is FailureKind.CHECK
    thrown = explore(make(lambda: _two(leave)), Options(engine=engine))
    assert thrown.counterexample is not None
    assert thrown.counterexample.failure.kind is FailureKind.EXCEPTION

    def build() -> Scenario:
        leave()
        return _cells()

    with pytest.raises(ProgramRejectedError, match="its set-up raised"):
        explore(make(build), Options(engine=engine))


def test_a_module_that_exits_when_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module_that_exits.py").write_text("raise SystemExit(0)", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(InputRejectedError, match="SystemExit: 0; name a function"):
        imported("module_that_exits:PROGRAM")
