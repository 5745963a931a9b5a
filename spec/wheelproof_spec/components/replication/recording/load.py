"""The reference's broker under the work that every broker is given."""

import threading
from functools import partial

from wheelproof.clock import SystemClock
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.replication.component import MaybeShrinkInSync, ReplicationConfig
from wheelproof_spec.components.replication.recording.calls import RecordedBroker
from wheelproof_spec.components.replication.recording.work import work
from wheelproof_spec.components.replication.reference import ReferenceBroker
from wheelproof_spec.components.replication.work import (
    FOLLOWERS,
    Consume,
    Lead,
    LoseAndLeadAgain,
    Produce,
    Replicate,
)
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import Make, do_work


class ReplicationLoad:
    """A broker that leads all partitions, with its reapers."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, ReplicationConfig)
        self._broker = ReferenceBroker(self._work.config, SystemClock())
        self._elections = threading.Lock()

    @property
    def config(self) -> Config:
        """The settings of the broker."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the broker until every request has been answered."""
        calls = RecordedBroker(self._broker, recorder)
        try:
            do_work(self._work, callers, partial(self._make, calls))
            wait_until_quiet(lambda: self._broker.num_delayed() == 0)
        finally:
            self._broker.manager.close()
        calls.look()

    def _make(self, calls: RecordedBroker, step: Make) -> None:
        match step.call:
            case Lead(partition=partition, in_sync=in_sync):
                calls.lead(partition, in_sync)
            case LoseAndLeadAgain(partition=partition, records=records):
                with self._elections:
                    calls.lose_and_lead_again(partition, records, FOLLOWERS)
            case Produce(partitions=some, required_acks=acks, timeout_ms=timeout_ms, sizes=sizes):
                calls.produce(some, acks, timeout_ms, records=len(sizes))
            case Consume(partitions=some, max_wait_ms=wait_ms, min_bytes=min_bytes):
                calls.consume(some, wait_ms, min_bytes)
            case Replicate(follower=follower, partition=partition, max_wait_ms=wait_ms):
                calls.replicate(follower, partition, wait_ms)
            case _:
                assert isinstance(step.call, MaybeShrinkInSync)
                calls.shrink()


def load(callers: Callers) -> ReplicationLoad:
    """Return the load of one history."""
    return ReplicationLoad(callers)
