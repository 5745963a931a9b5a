"""Bursts: calls run together, and what goes wrong in a thread is told with its rule."""

import threading

import pytest

from wheelproof_spec.fuzz import burst
from wheelproof_spec.fuzz.burst import BurstError, run_burst


def test_burst_runs_all_programs_at_the_same_time() -> None:
    together = threading.Barrier(3)
    answers = run_burst([[together.wait, lambda: 7] for _ in range(3)])
    assert sorted(answers) == [0, 1, 2, 7, 7, 7]


def test_burst_names_the_rule_when_a_call_raises() -> None:
    def fail() -> None:
        raise ValueError("planted")

    with pytest.raises(BurstError, match="planted") as caught:
        run_burst([[fail], [lambda: None]])
    assert caught.value.violation.rule == "Timer.NoCallFails"


def test_burst_tells_where_stuck_threads_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.0)
    never = threading.Event()
    with pytest.raises(BurstError, match=r"burst-0 do not end(.|\n)*wait") as caught:
        run_burst([[never.wait]])
    never.set()
    assert caught.value.violation.rule == "Timer.EveryCallReturns"
