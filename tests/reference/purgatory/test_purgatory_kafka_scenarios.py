"""What Kafka's own tests of the purgatory ask (standard 7)."""

import random
import threading
from functools import partial

import pytest

from support.reference.purgatory import Bench, Operation, await_event, run_threads
from wheelproof import sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    DelayedOperationPurgatory,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import WHEELPROOF, PurgatoryCall
from wheelproof_spec.components.purgatory.oracle import PurgatoryOracle
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort

_THREADS = 20
_OPERATIONS = 100
_ATTEMPTS = 20


@pytest.mark.repeats("op-try-complete", "pu-check", "pu-cancel-2-1", "pu-three-six", "pu-20-ms")
@pytest.mark.parametrize("scenario", PURGATORY.scenarios(), ids=lambda scenario: scenario.name)
def test_the_reference_follows_the_oracle(scenario: Scenario[PurgatoryCall]) -> None:
    judge, port = PurgatoryOracle(WHEELPROOF, Tally()), ReferencePurgatoryPort()
    for call in scenario.calls:
        assert judge_call(judge, port, call) is None, call


@pytest.mark.repeats("op-lock-stranger")
def test_a_lock_that_a_stranger_holds_delays_only_that_operation() -> None:
    lock = sync.lock("held by a stranger")
    held, others = Operation(discipline=BlockingDiscipline(lock)), [Operation(), Operation()]
    bench = Bench()
    for operation in (held, *others):
        bench.purgatory.try_complete_else_watch(operation, [id(operation)])
        operation.ready = True
    waiting = threading.Event()

    def check() -> None:
        waiting.set()
        bench.purgatory.check_and_complete(id(held))

    with lock:
        checker = threading.Thread(target=check, daemon=True)
        checker.start()
        await_event(waiting)
        assert [bench.purgatory.check_and_complete(id(other)) for other in others] == [1, 1]
        assert held.completed == 0
    checker.join()
    assert held.completed == 1


@pytest.mark.parametrize("discipline", [TryLockOnceDiscipline, PendingFlagDiscipline])
def test_a_discipline_that_tries_the_lock_does_not_wait_for_a_stranger(
    discipline: type[TryLockOnceDiscipline | PendingFlagDiscipline],
) -> None:
    lock = sync.lock("held by a stranger")
    bench = Bench()
    operation = Operation(discipline=discipline(lock))
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    operation.ready = True
    with lock:
        assert bench.purgatory.check_and_complete("k") == 0
    assert bench.purgatory.check_and_complete("k") == 1


@pytest.mark.repeats("pu-20-threads")
@pytest.mark.slow
def test_twenty_threads_complete_all_their_operations() -> None:
    purgatory = DelayedOperationPurgatory[Operation]("twenty", SystemTimer("twenty"))

    def work(number: int) -> None:
        source = random.Random(number)
        for one in range(_OPERATIONS):
            operation = Operation()
            key = (number, one)
            purgatory.try_complete_else_watch(operation, [key])
            attempt_of_success = source.randrange(_ATTEMPTS)
            attempts: list[int] = []
            for attempt in range(_ATTEMPTS):
                operation.ready = operation.ready or attempt == attempt_of_success
                attempts.append(purgatory.check_and_complete(key))
            assert sum(attempts) == operation.completed == 1

    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)

    run_threads(*(partial(guarded, number) for number in range(_THREADS)))
    assert failures == []
    assert (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed()) == (0, 0, 0)
    purgatory.close()
