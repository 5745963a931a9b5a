"""The sequential machine: one thread drives a timer under a virtual clock, beside the oracle.

Any implementation behind the door `TimerPort` can be driven, and after every call what it showed
is compared with what the oracle allows (semantics.md 1.7 - 1.14).
"""

import json
from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof_spec.conformance.timer_port import (
    BrokenDownError,
    RefusedError,
    TaskId,
    TimerConfig,
    TimerObservation,
    TimerPort,
)
from wheelproof_spec.fuzz.engine import Recorder, run_machine
from wheelproof_spec.fuzz.report import FuzzReport
from wheelproof_spec.fuzz.timer_domain import TASKS, Span, TimerDomain, configs, delays, jumps
from wheelproof_spec.oracle import HeapTimer, TimerContract, Violation

_DEFAULT_DOMAIN = TimerDomain()
_names = st.sampled_from(TASKS)
T = TypeVar("T")


def run_timer_fuzz(
    port: TimerPort,
    *,
    contract: TimerContract,
    cases: int,
    seed: int,
    limits: TimerDomain = _DEFAULT_DOMAIN,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz timer --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `contract`.

    With `seconds`, batches of `cases` follow one another until that time is over. `repeat` is the
    command that repeats a failure, with `{seed}` in it.
    """
    return run_machine(
        "timer, sequential",
        lambda recorder: timer_machine(port, contract, limits, recorder),
        first_seed=seed,
        cases=cases,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
    )


def timer_machine(
    port: TimerPort, contract: TimerContract, domain: TimerDomain, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class TimerMachine(RuleBasedStateMachine):
        """Adds, cancels, advances and asks for the size, in any order."""

        def __init__(self) -> None:
            super().__init__()
            self._delay_ms_of_task: dict[TaskId, int] = {}
            self._failed = False

        @initialize(config=configs(domain))
        def reset(self, config: TimerConfig) -> None:
            recorder.begin_case()
            self._config = config
            self._oracle: HeapTimer[TaskId] = HeapTimer(
                tick_ms=config.tick_ms, start_ms=config.start_ms, contract=contract
            )
            _note(
                recorder,
                "reset",
                tick_ms=config.tick_ms,
                wheel_size=config.wheel_size,
                start_ms=config.start_ms,
            )
            self._call(lambda: port.reset(config))

        @rule(task=_names, delay=delays(domain))
        def add(self, task: TaskId, delay: Span) -> None:
            self._add(task, delay.millis(self._config))

        @precondition(lambda self: bool(self._delay_ms_of_task))
        @rule(data=st.data())
        def add_again(self, data: st.DataObject) -> None:
            task = data.draw(st.sampled_from(sorted(self._delay_ms_of_task)))
            self._add(task, self._delay_ms_of_task[task])

        @rule(task=_names)
        def cancel(self, task: TaskId) -> None:
            _note(recorder, "cancel", task=task)
            expected = self._oracle.cancel(task)
            seen = self._call(lambda: port.cancel(task))
            if seen.cancelled is not None:
                self._compare("Timer.CancelTellsTheTruth", "cancelled", expected, seen.cancelled)
            self._observe(seen)

        @rule(jump=jumps(domain))
        def advance(self, jump: Span) -> None:
            self._advance_to(self._oracle.now_ms + jump.millis(self._config))

        @rule()
        def size(self) -> None:
            _note(recorder, "size")
            seen = self._call(port.size)
            self._observe(seen)
            if seen.size is not None:
                self._compare(
                    "Timer.SizeCountsWaitingTasks", "size", self._oracle.size(), seen.size
                )

        def teardown(self) -> None:
            """Let everything expire: no task is left behind, none runs twice."""
            if self._failed or not hasattr(self, "_oracle"):
                return
            last_due_ms = self._oracle.latest_due_ms()
            if last_due_ms is not None:
                self._advance_to(max(last_due_ms, self._oracle.now_ms) + self._config.tick_ms)
            self.size()

        def _add(self, task: TaskId, delay_ms: int) -> None:
            _note(recorder, "add", task=task, delay_ms=delay_ms)
            self._delay_ms_of_task[task] = delay_ms
            self._oracle.add(task, delay_ms)
            self._observe(self._call(lambda: port.add(task, delay_ms)))

        def _advance_to(self, time_ms: int) -> None:
            _note(recorder, "advance", to_ms=time_ms)
            self._oracle.advance_to(time_ms)
            self._observe(self._call(lambda: port.advance(time_ms)), advanced=True)

        def _observe(self, seen: TimerObservation, *, advanced: bool = False) -> None:
            self._judge(self._oracle.observe(seen.fired, advanced=advanced))

        def _compare(self, rule_name: str, what: str, expected: object, observed: object) -> None:
            if observed != expected:
                self._judge(
                    Violation(
                        rule=rule_name,
                        expected=f"{what} {expected}",
                        observed=f"{what} {observed}",
                        reason=f"the answer differs from the state: {self._oracle.size()} waiting",
                    )
                )

        def _call(self, call: Callable[[], T]) -> T:
            try:
                return call()
            except RefusedError as refusal:
                self._judge(
                    Violation(
                        rule="Timer.AcceptsItsDomain",
                        expected="a call within the domain is carried out",
                        observed=str(refusal),
                        reason="the implementation refused a call that the specification allows",
                    )
                )
                raise
            except BrokenDownError as breakdown:
                self._judge(
                    Violation(
                        rule=breakdown.rule,
                        expected="a call within the domain is carried out",
                        observed=breakdown.observed,
                        reason="the implementation broke down in a call",
                    )
                )
                raise

        def _judge(self, violation: Violation | None) -> None:
            self._failed = violation is not None
            recorder.judge(violation)

    return TimerMachine


def _note(recorder: Recorder, operation: str, **arguments: object) -> None:
    recorder.step(json.dumps({"op": operation, **arguments}))
