"""Callers that produce, consume and replicate; in hurried histories the leader changes, too."""

import random
import threading

from wheelproof.clock import SystemClock
from wheelproof_spec.components.replication.component import ALL_ACKS, ReplicationConfig
from wheelproof_spec.components.replication.recording.calls import RecordedBroker
from wheelproof_spec.components.replication.reference import ReferenceBroker
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_PARTITIONS = ("a", "b", "c")
_FOLLOWERS = (2, 3)
_LONGEST_WAIT_MS = 50
_SEGMENT_BYTES = 300


class ReplicationLoad:
    """A broker that leads all partitions, with its reapers."""

    def __init__(self) -> None:
        self._broker = ReferenceBroker(self.config, SystemClock())
        self._elections = threading.Lock()

    @property
    def config(self) -> ReplicationConfig:
        """The settings of the broker."""
        return ReplicationConfig(
            segment_bytes=_SEGMENT_BYTES,
            min_in_sync_replicas=2,
            replica_lag_time_max_ms=_LONGEST_WAIT_MS,
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the broker until every request has been answered."""
        calls = RecordedBroker(self._broker, recorder)
        try:
            for partition in _PARTITIONS:
                calls.lead(partition, _FOLLOWERS)
            callers.act(lambda dice, _: self._act(calls, dice, hurried=callers.hurried))
            wait_until_quiet(lambda: self._broker.num_delayed() == 0)
        finally:
            self._broker.manager.close()
        calls.look()

    def _act(self, calls: RecordedBroker, dice: random.Random, *, hurried: bool) -> None:
        choice, partition = dice.randrange(100), dice.choice(_PARTITIONS)
        wait_ms = dice.randrange(1, _LONGEST_WAIT_MS)
        some = dice.sample(_PARTITIONS, dice.randrange(1, len(_PARTITIONS)))
        if hurried and choice < 1:
            with self._elections:
                calls.lose_and_lead_again(partition, dice.randrange(3), _FOLLOWERS)
        elif choice < 2:
            calls.shrink()
        elif choice < 25:
            calls.produce(some, ALL_ACKS, wait_ms, records=dice.randrange(1, 3))
        elif choice < 35:
            calls.produce(some, 1, wait_ms)
        elif choice < 55:
            calls.consume(some, wait_ms, dice.choice((1, 30)))
        else:
            calls.replicate(dice.choice(_FOLLOWERS), partition, dice.choice((0, wait_ms)))


def load(callers: Callers) -> ReplicationLoad:
    """Return the load of one history."""
    del callers
    return ReplicationLoad()
