"""The sequential machine of the record accumulator, under a virtual clock and with faults.

One thread drives appenders, flushes and the sender; what blocks waits on threads of its own, and
after each call it is settled who waits. What was seen is compared with the oracle (semantics.md 4).
"""

from typing import Unpack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    AppendFault,
    CallbackFault,
    Drain,
    Expire,
    Flush,
    Ready,
    Reenqueue,
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.component import (
    AccumulatorCall,
    AccumulatorConfig,
    AccumulatorObservation,
    AccumulatorPort,
)
from wheelproof_spec.components.accumulator.fuzz.domain import (
    SIZES,
    accumulator_configs,
)
from wheelproof_spec.components.accumulator.oracle.ledger import BatchLedger
from wheelproof_spec.engines.fuzz.driven_machine import DrivenMachine
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch

PARTITIONS = (0, 1, 2)
"""The partitions of a case; the last one has no leader now and then."""

_NODES = (0, 1)
_LARGE = 2**20
_LONG_MS = 10_000
_RARELY = (True, False, False, False, False)
_CALLBACKS = (None, None, None, None, *CallbackFault)
_FAULTS = (None,) * 8 + tuple(AppendFault)


def run_accumulator_fuzz(
    port: AccumulatorPort,
    *,
    profile: str,
    **batch: Unpack[Batch],
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`; see `run_machine`."""
    return run_machine(
        "accumulator, sequential",
        lambda recorder: accumulator_machine(port, profile, recorder),
        **batch,
    )


def accumulator_machine(
    port: AccumulatorPort,
    profile: str,
    recorder: Recorder,
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class AccumulatorMachine(DrivenMachine[AccumulatorCall, AccumulatorObservation]):
        """Appends, drains, answers, flushes, lets time pass and closes, in any order."""

        def __init__(self) -> None:
            self._judge = BatchLedger(profile, Tally())
            super().__init__(self._judge, port, recorder)
            self._offset = 0

        @initialize(config=accumulator_configs())
        def reset(self, config: AccumulatorConfig) -> None:
            self.begin(Reset(config=config))

        @rule(
            partition=st.sampled_from(PARTITIONS),
            size=st.sampled_from(SIZES),
            timeout_ms=st.sampled_from((0, 5, _LONG_MS)),
            fault=st.sampled_from(_FAULTS),
            callback=st.sampled_from(_CALLBACKS),
        )
        def append(
            self,
            partition: int,
            size: int,
            timeout_ms: int,
            fault: AppendFault | None,
            callback: CallbackFault | None,
        ) -> None:
            self.call(
                Append(
                    record=f"r{self.calls}",
                    partition=partition,
                    size=size,
                    max_time_to_block_ms=timeout_ms,
                    fault=fault,
                    callback=callback,
                )
            )

        @rule(partition=st.sampled_from(PARTITIONS))
        def append_plainly(self, partition: int) -> None:
            """Most records are small and come to nothing special: without them little waits."""
            record = f"r{self.calls}"
            self.call(Append(record=record, partition=partition, size=3, max_time_to_block_ms=0))

        @rule(first=st.sampled_from((0, 0, None)), last=st.sampled_from((0, 1, 2, None)))
        def ready(self, first: int | None, last: int | None) -> None:
            nodes = zip(PARTITIONS, (first, 1, last), strict=True)
            leaders = {partition: node for partition, node in nodes if node is not None}
            self.call(Ready(leaders=leaders))

        @rule(
            node=st.sampled_from(_NODES),
            last=st.booleans(),
            max_size=st.sampled_from((0, 100, 200, _LARGE)),
        )
        def drain(self, node: int, last: bool, max_size: int) -> None:
            partitions = (node, PARTITIONS[-1]) if last else (node,)
            self.call(Drain(node=node, partitions=partitions, max_size=max_size))

        @precondition(lambda self: bool(self._judge.queues.in_flight))
        @rule(data=st.data(), answer=st.sampled_from(("failed", "again", "stored")))
        def respond(self, data: st.DataObject, answer: str) -> None:
            in_flight = self._judge.queues.in_flight
            batch = data.draw(st.sampled_from(sorted(in_flight)))
            if answer == "again" and not in_flight[batch].ended:
                self.call(Reenqueue(batch=batch))
            elif answer == "failed":
                self.call(Respond(batch=batch))
            else:
                self._store(batch)

        @precondition(lambda self: bool(self._judge.queues.splittable()))
        @rule(data=st.data(), size=st.sampled_from((1, 75, 90)))
        def split(self, data: st.DataObject, size: int) -> None:
            batch = data.draw(st.sampled_from(self._judge.queues.splittable()))
            self.call(Split(batch=batch, size=size))

        @rule()
        def expire(self) -> None:
            self.call(Expire())

        @rule()
        def flush(self) -> None:
            self.call(Flush(flush=f"f{self.calls}"))

        @precondition(lambda self: bool(self._judge.waiting()))
        @rule(data=st.data())
        def interrupt(self, data: st.DataObject) -> None:
            self.call(Interrupt(name=data.draw(st.sampled_from(self._judge.waiting()))))

        @rule(jump_ms=st.sampled_from((0, 1, 5, 20)))
        def advance(self, jump_ms: int) -> None:
            self._advance(jump_ms)

        @precondition(lambda self: not self._judge.closed)
        @rule(now=st.sampled_from(_RARELY), by_force=st.booleans())
        def close(self, now: bool, by_force: bool) -> None:
            if now:
                self.call(Close())
            if now and by_force:
                self.call(Abort())

        def teardown(self) -> None:
            """Send everything: each record has its outcome, and all memory is back."""
            if self.running:
                self._advance(_LONG_MS)
            while self.running and self._judge.queues.unfinished():
                for batch in tuple(self._judge.queues.in_flight):
                    self._store(batch)
                for node, partition in ((0, 0), (1, 1), (0, 2)):
                    self.call(Drain(node=node, partitions=(partition,), max_size=_LARGE))
            self.call(Ready(leaders={0: 0, 1: 1, 2: 0}))

        def _store(self, batch: str) -> None:
            offset = self._offset
            self._offset += len(self._judge.queues.in_flight[batch].records)
            self.call(Respond(batch=batch, offset=offset))

        def _advance(self, jump_ms: int) -> None:
            self.call(Advance(to_ms=self._judge.queues.now_ms + jump_ms))

    return AccumulatorMachine
