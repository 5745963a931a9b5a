"""Timers on clocks whose milliseconds begin anywhere: what keeps the contract passes."""

import random
from dataclasses import replace
from typing import Literal

import pytest

from support import seeds
from support.agreement.small_histories import History, Line, history_of
from support.history.history_scripts import judged
from wheelproof_spec.base.calls import AdvanceClock, Advanced
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.contract import (
    CONTRACTS,
    EXACT,
    HASHED_WHEEL,
    KAFKA,
    NEVER_EARLY,
    WITHIN_A_TICK,
)
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    TimerClause,
    TimerConfig,
)

pytestmark = pytest.mark.slow

MS = 1_000_000
_STEPS_NS = (1_000, MS, 8 * MS)


class _Timer:
    """A timer that keeps the contract, and what a recorder with a clock of its own writes.

    Kafka's clock truncates; those of the others are exact. `early_ms` is a defect.
    """

    def __init__(self, profile: str, seed: int, resolution_ns: int, early_ms: int = 0) -> None:
        self._profile = profile
        self._chance = chance = random.Random(seed)
        self._resolution_ns = resolution_ns
        self._early_ms = early_ms
        self._lines: list[Line] = []
        self._times: list[int] = []
        self._now_ns = chance.randrange(10**9)
        self._phase_ns = chance.randrange(10**9)
        self._tick_ms = chance.choice((1, 2, 5))
        self._late_ns = 0

    def history(self) -> History:
        chance = self._chance
        due_ns: dict[str, int] = {}
        for number in range(40):
            self._pass(chance.choice(_STEPS_NS))
            match chance.randrange(5):
                case 0 | 1:
                    delay_ms = chance.randint(-1, 9)
                    self._write("a", "invoke", "add", Add(task=f"t{number}", delay_ms=delay_ms))
                    self._pass(MS // 2)
                    due_ns[f"t{number}"] = self._due_ns(self._clock_ns() + delay_ms * MS)
                    self._pass(MS // 2)
                    self._write("a", "ok", "add", Nothing())
                case 2 if due_ns:
                    task = chance.choice(sorted(due_ns))
                    del due_ns[task]
                    self._write("a", "invoke", "cancel", Cancel(task=task))
                    self._write("a", "ok", "cancel", Cancelled(cancelled=True))
                case _:
                    self._advance(due_ns)
        config = TimerConfig(
            tick_ms=self._tick_ms, runs="inline", lateness_ms=-(-self._late_ns // MS)
        )
        history = history_of("timer", config, self._lines, quiet=False, times=self._times)
        header = replace(
            history.header, profile=self._profile, clock_resolution_ns=self._resolution_ns
        )
        return replace(history, header=header)

    def _advance(self, due_ns: dict[str, int]) -> None:
        self._write("r", "invoke", "advance_clock", AdvanceClock())
        self._pass(MS // 4)
        now_ns = self._clock_ns() + self._early_ms * MS
        for task, due in sorted(due_ns.items(), key=lambda item: item[1]):
            if due <= now_ns:
                del due_ns[task]
                self._pass(1_000)
                self._late_ns = max(self._late_ns, self._now_ns + self._phase_ns - due)
                self._write("x", "invoke", "run", Run(task=task))
        self._write("r", "ok", "advance_clock", Advanced())

    def _pass(self, at_most_ns: int) -> None:
        self._now_ns += self._chance.randrange(1, at_most_ns)

    def _clock_ns(self) -> int:
        now_ns = self._now_ns + self._phase_ns
        return now_ns // MS * MS if self._profile == KAFKA.name else now_ns

    def _due_ns(self, deadline_ns: int) -> int:
        tick_ns = self._tick_ms * MS
        return {
            KAFKA.name: deadline_ns // tick_ns * tick_ns,
            NEVER_EARLY.name: -(-deadline_ns // tick_ns) * tick_ns,
            HASHED_WHEEL.name: (deadline_ns // tick_ns + 1) * tick_ns,
            EXACT.name: deadline_ns,
            WITHIN_A_TICK.name: deadline_ns,
        }[self._profile]

    def _write(self, process: str, kind: Literal["invoke", "ok"], f: str, value: object) -> None:
        self._lines.append(Line(process, kind, f, value))
        self._times.append(self._now_ns // self._resolution_ns * self._resolution_ns)


def _rule(timer: _Timer) -> str | None:
    violation = judged(timer.history()).violation
    return None if violation is None else violation.rule


@pytest.mark.campaign
@pytest.mark.parametrize("resolution_ns", [1, 1_000, MS])
@pytest.mark.parametrize("profile", CONTRACTS)
def test_what_keeps_the_contract_passes(profile: str, resolution_ns: int) -> None:
    first = seeds.seed(0)
    for seed in range(first, first + seeds.runs(60, hunted=600)):
        timer = _Timer(profile, seed, resolution_ns)
        assert _rule(timer) is None, f"seed {seed}"


@pytest.mark.parametrize("profile", CONTRACTS)
def test_what_runs_early_is_found(profile: str) -> None:
    """Two milliseconds are enough: one by truncation, less than one by rounding outwards."""
    found = {_rule(_Timer(profile, seed, 1_000, early_ms=2)) for seed in range(60)}
    assert found <= {None, TimerClause.NEVER_BEFORE_DUE}
    assert TimerClause.NEVER_BEFORE_DUE in found
