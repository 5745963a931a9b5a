"""The sequential machine: one thread drives a purgatory under a virtual clock, beside the oracle.

Any implementation behind the door `PurgatoryPort` can be driven (semantics.md 2.1 - 2.10).
"""

from typing import Unpack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    PurgatoryPort,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory
from wheelproof_spec.engines.fuzz.driven_machine import DrivenMachine
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch

KEYS = tuple("xyz")
CONDITIONS = tuple("pqr")
"""Few of either, so that operations share them."""

_MAX_DELAY_MS = 60
_keys = st.sampled_from(KEYS)
_conditions = st.sampled_from(CONDITIONS)
_configs = st.builds(
    PurgatoryConfig,
    tick_ms=st.integers(1, 4),
    wheel_size=st.integers(2, 5),
    start_ms=st.integers(0, 50),
    purge_interval=st.integers(0, 3),
)


def run_purgatory_fuzz(port: PurgatoryPort, *, profile: str, **batch: Unpack[Batch]) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`; see `run_machine`."""
    return run_machine(
        "purgatory, sequential",
        lambda recorder: purgatory_machine(port, profile, recorder),
        **batch,
    )


def purgatory_machine(
    port: PurgatoryPort, profile: str, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class PurgatoryMachine(DrivenMachine[PurgatoryCall, PurgatoryObservation]):
        """Hands operations in, sets conditions, triggers, forces, cancels and advances."""

        def __init__(self) -> None:
            self._judge = OraclePurgatory(profile, Tally())
            super().__init__(self._judge, port, recorder)
            self._handed_in: list[str] = []

        @initialize(config=_configs)
        def reset(self, config: PurgatoryConfig) -> None:
            self.begin(Reset(config=config))

        @rule(
            delay_ms=st.integers(0, _MAX_DELAY_MS),
            keys=st.lists(_keys, min_size=1, max_size=len(KEYS), unique=True),
            conditions=st.lists(_conditions, max_size=2, unique=True),
        )
        def watch(self, delay_ms: int, keys: list[str], conditions: list[str]) -> None:
            name = f"op{len(self._handed_in) + 1}"
            self._handed_in.append(name)
            self.call(
                TryCompleteElseWatch(
                    operation=name,
                    delay_ms=delay_ms,
                    keys=tuple(keys),
                    conditions=tuple(conditions),
                )
            )

        @rule(condition=_conditions)
        def set_condition(self, condition: str) -> None:
            self.call(SetCondition(condition=condition))

        @rule(key=_keys)
        def check(self, key: str) -> None:
            self.call(CheckAndComplete(key=key))

        @precondition(lambda self: bool(self._handed_in))
        @rule(data=st.data())
        def force(self, data: st.DataObject) -> None:
            self.call(ForceComplete(operation=data.draw(st.sampled_from(self._handed_in))))

        @rule(key=_keys)
        def cancel(self, key: str) -> None:
            self.call(CancelForKey(key=key))

        @rule(jump_ms=st.integers(0, _MAX_DELAY_MS))
        def advance(self, jump_ms: int) -> None:
            self.call(Advance(to_ms=self._judge.now_ms + jump_ms))

        @rule()
        def ask_gauges(self) -> None:
            self.call(AskGauges())

        def teardown(self) -> None:
            """Let everything expire and visit every key: nothing is left behind."""
            if self.running:
                self.call(self._judge.drain())
                for key in KEYS:
                    self.call(CheckAndComplete(key=key))
                self.call(AskGauges())

    return PurgatoryMachine
