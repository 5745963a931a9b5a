"""Programs that break the rules of exploration: one sentence that says so, each."""

import random
import signal
import threading
import time
from collections.abc import Callable
from itertools import count

import pytest

from support.explore.exploring import explored, make
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import (
    NondeterminismError,
    ProgramRejectedError,
)
from wheelproof_explore.options import Options
from wheelproof_explore.program import Action, Scenario
from wheelproof_explore.runs import guard
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.verdicts import ExitCode, Verdict


def _two(action: Action) -> Callable[[], Scenario]:
    return lambda: Scenario(threads={"a": action, "b": action})


def test_a_set_up_that_raises() -> None:
    def build() -> Scenario:
        raise KeyError("missing")

    with pytest.raises(ProgramRejectedError, match="set-up raised KeyError") as caught:
        explored(build)
    assert caught.value.exit_code is ExitCode.INPUT_REJECTED


def test_a_program_without_threads() -> None:
    with pytest.raises(ProgramRejectedError, match="at least one thread"):
        explored(lambda: Scenario(threads={}))


def test_a_set_up_that_would_wait() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        lock.acquire()
        lock.acquire()
        return Scenario(threads={"a": lock.release})

    with pytest.raises(ProgramRejectedError, match="wait for ever outside its threads"):
        explored(build)


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_a_program_that_starts_threads_by_itself(substrate: SubstrateKind) -> None:
    def start() -> None:
        threading.Thread(target=int).start()

    with pytest.raises(ProgramRejectedError, match="starts the thread"):
        explore(make(_two(start)), Options(substrate=substrate))


def test_threads_of_the_process_that_is_visited_do_as_they_like() -> None:
    inside, slept = threading.Event(), threading.Event()
    done: list[str] = []

    def host() -> None:
        inside.wait()
        time.sleep(0)
        guest = threading.Thread(target=done.append, args=("started",))
        guest.start()
        guest.join()
        slept.set()

    thread = threading.Thread(target=host)
    thread.start()
    with guard.forbidden_calls("program"):
        inside.set()
        slept.wait()
    thread.join()
    assert done == ["started"]


def test_a_program_that_sleeps() -> None:
    with pytest.raises(ProgramRejectedError, match="sleeps"):
        explored(_two(lambda: time.sleep(0)))


def test_a_step_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE_S", 1)

    def spin() -> None:
        # The alarm of the watchdog, brought about by hand, so that nothing is waited for.
        for _ in count():
            signal.raise_signal(signal.SIGALRM)

    with pytest.raises(ProgramRejectedError, match="does not end within"):
        explored(_two(spin))


def test_objects_of_an_earlier_run() -> None:
    made: list[sync.Volatile[int]] = []

    def build() -> Scenario:
        if not made:
            made.append(sync.volatile(0, "x"))
        cell = made[0]
        return Scenario(threads={"a": lambda: cell.set(1), "b": lambda: cell.set(2)})

    with pytest.raises(ProgramRejectedError, match="made in an earlier run"):
        explored(build)


def test_a_program_that_counts_its_runs() -> None:
    runs = count()

    def build() -> Scenario:
        cells = [sync.volatile(0, "x"), sync.volatile(0, "y")]
        cell = cells[next(runs) % 2]
        return Scenario(threads={"a": lambda: cell.set(1), "b": lambda: cells[0].set(2)})

    with pytest.raises(NondeterminismError, match="is not deterministic"):
        explored(build)


def test_a_program_that_draws_random_numbers() -> None:
    draws = random.Random(1)

    def build() -> Scenario:
        cells = [sync.volatile(0, f"x{number}") for number in range(8)]

        def write() -> None:
            for _ in range(4):
                cells[draws.randrange(8)].set(1)

        return Scenario(threads={"a": write, "b": write})

    with pytest.raises(NondeterminismError, match="is not deterministic"):
        explored(build)


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_threads_that_are_left_over_are_unwound(substrate: SubstrateKind) -> None:
    unwound: list[str] = []

    def build() -> Scenario:
        lock = sync.lock("lock")
        never = sync.condition(lock, "never")

        def wait() -> None:
            try:
                with lock:
                    never.wait()
            finally:
                unwound.append("waiter")

        return Scenario(threads={"a": wait, "b": wait})

    before = threading.active_count()
    found = explore(make(build), Options(substrate=substrate, keep_going=True))
    assert found.failing_runs == found.runs == found.classes == 2
    assert len(unwound) >= 2 * found.runs
    assert threading.active_count() == before


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_an_interrupt_gives_what_is_known_so_far(substrate: SubstrateKind) -> None:
    runs = count()

    def build() -> Scenario:
        cell = sync.volatile(0, "x")

        def increment() -> None:
            cell.set(cell.get() + 1)
            if next(runs) == 40:
                raise KeyboardInterrupt

        return Scenario(threads={"a": increment, "b": increment, "c": increment})

    found = explore(make(build), Options(substrate=substrate))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.stopped == "interrupted"
    assert 0 < found.runs < 36


def test_a_bound_on_runs_is_inconclusive() -> None:
    def build() -> Scenario:
        cell = sync.volatile(0, "x")
        return Scenario(threads={"a": lambda: cell.set(1), "b": lambda: cell.set(2)})

    found = explore(make(build), Options(max_runs=1))
    assert found.verdict() is Verdict.INCONCLUSIVE
