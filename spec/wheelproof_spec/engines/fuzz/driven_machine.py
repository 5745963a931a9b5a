"""What the machines that one thread drives have in common: each call is judged at once."""

from typing import Generic, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import Judge, Port, Seen, judge_call
from wheelproof_spec.engines.drive.driver.messages import request_line
from wheelproof_spec.engines.fuzz.engine import Recorder

Call = TypeVar("Call", bound=Request)


class DrivenMachine(RuleBasedStateMachine, Generic[Call, Seen]):
    """Drives a port, and compares what each call showed with what the judge allows."""

    def __init__(
        self, judge: Judge[Call, Seen], port: Port[Call, Seen], recorder: Recorder
    ) -> None:
        super().__init__()
        self._of_case = (judge, port, recorder)
        self.running = False
        """Whether the case has begun and nothing is wrong so far."""
        self.calls = 0

    def begin(self, reset: Call) -> None:
        """Begin a case; raises EnoughError if there are to be no more."""
        self._of_case[2].begin_case()
        self.running = True
        self.call(reset)

    def call(self, call: Call) -> None:
        """Make a call; after a violation there are no more, so that nothing is done then."""
        if not self.running:
            return
        judge, port, recorder = self._of_case
        self.calls += 1
        recorder.step(request_line(self.calls, call))
        violation = judge_call(judge, port, call)
        self.running = violation is None
        recorder.judge(violation)
