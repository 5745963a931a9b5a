"""Bursts: calls run together, and what goes wrong in a thread is told with its rule."""

import threading
from functools import partial

import pytest

from wheelproof_spec.base.component import Config
from wheelproof_spec.base.history.judging import RecordedComponent
from wheelproof_spec.components.buffer_pool import history as buffer_pool
from wheelproof_spec.components.buffer_pool.component import PoolConfig
from wheelproof_spec.components.purgatory import history as purgatory
from wheelproof_spec.components.purgatory.component import PREDICATES_TOO
from wheelproof_spec.fuzz import burst
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts


def test_burst_runs_all_programs_at_the_same_time() -> None:
    together = threading.Barrier(3)
    answers = run_burst([[together.wait, lambda: 7] for _ in range(3)], "Barrier")
    assert sorted(answers) == [0, 1, 2, 7, 7, 7]


def test_burst_names_the_rule_when_a_call_raises() -> None:
    def fail() -> None:
        raise ValueError("planted")

    with pytest.raises(BurstError, match="planted") as caught:
        run_burst([[fail], [lambda: None]], "Sum")
    assert caught.value.violation.rule == "Sum.NoCallFails"


def test_burst_tells_where_stuck_threads_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.0)
    never = threading.Event()
    with pytest.raises(BurstError, match=r"burst-0 do not end(.|\n)*wait") as caught:
        run_burst([[never.wait]], "Event")
    never.set()
    assert caught.value.violation.rule == "Event.EveryCallReturns"


@pytest.mark.parametrize(
    ("component", "config", "title"),
    [
        (purgatory.RECORDED, PREDICATES_TOO, "Purgatory"),
        (buffer_pool.RECORDED, PoolConfig(total_memory=1, poolable_size=1), "BufferPool"),
    ],
)
def test_a_burst_names_the_rules_of_the_component_that_it_runs_on(
    monkeypatch: pytest.MonkeyPatch, component: RecordedComponent, config: Config, title: str
) -> None:
    monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.0)
    never = threading.Event()
    stuck = JudgedBursts(component, config).run([[never.wait]])
    never.set()
    assert stuck is not None
    assert stuck.rule == f"{title}.EveryCallReturns"
    monkeypatch.undo()
    failed = JudgedBursts(component, config).run([[partial(int, "planted")]])
    assert failed is not None
    assert failed.rule == f"{title}.NoCallFails"
