"""The sequential machine: one thread drives a timer under a virtual clock, beside the oracle.

Any implementation behind the door `Port` can be driven, and after every call what it showed
is compared with what the oracle allows (semantics.md 1.7 - 1.14).
"""

from typing import Unpack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerObservation,
    TimerPort,
)
from wheelproof_spec.components.timer.drawn import TASKS, Span, TimerDomain
from wheelproof_spec.components.timer.fuzz.domain import configs, delays, jumps
from wheelproof_spec.components.timer.oracle import TimerOracle
from wheelproof_spec.engines.fuzz.driven_machine import DrivenMachine
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch

_DEFAULT_DOMAIN = TimerDomain()
_names = st.sampled_from(TASKS)


def run_timer_fuzz(
    port: TimerPort,
    *,
    profile: str,
    limits: TimerDomain = _DEFAULT_DOMAIN,
    tally: Tally | None = None,
    **batch: Unpack[Batch],
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`.

    With `seconds`, batches of `cases` follow one another until that time is over. `repeat` is the
    command that repeats a failure, with `{seed}` in it.
    """
    return run_machine(
        "timer, sequential",
        lambda recorder: timer_machine(port, profile, tally or Tally(), limits, recorder),
        **batch,
    )


def timer_machine(
    port: TimerPort, profile: str, tally: Tally, domain: TimerDomain, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class TimerMachine(DrivenMachine[TimerCall, TimerObservation]):
        """Adds, cancels, advances and asks for the size, in any order."""

        def __init__(self) -> None:
            self._judge = TimerOracle(profile, tally)
            super().__init__(self._judge, port, recorder)
            self._delay_ms_of_task: dict[TaskId, int] = {}

        @initialize(config=configs(domain))
        def reset(self, config: TimerConfig) -> None:
            self._config = config
            self.begin(Reset(config=config))

        @rule(task=_names, delay=delays(domain))
        def add(self, task: TaskId, delay: Span) -> None:
            self._delay_ms_of_task[task] = delay.millis(self._config)
            self.call(Add(task=task, delay_ms=self._delay_ms_of_task[task]))

        @precondition(lambda self: bool(self._delay_ms_of_task))
        @rule(data=st.data())
        def add_again(self, data: st.DataObject) -> None:
            task = data.draw(st.sampled_from(sorted(self._delay_ms_of_task)))
            self.call(Add(task=task, delay_ms=self._delay_ms_of_task[task]))

        @rule(task=_names)
        def cancel(self, task: TaskId) -> None:
            self.call(Cancel(task=task))

        @rule(jump=jumps(domain))
        def advance(self, jump: Span) -> None:
            self.call(Advance(to_ms=self._judge.now_ms + jump.millis(self._config)))

        @rule()
        def size(self) -> None:
            self.call(Size())

        def teardown(self) -> None:
            """Let everything expire: no task is left behind, none runs twice."""
            if self.running:
                self.call(self._judge.drain())
                self.call(Size())

    return TimerMachine
