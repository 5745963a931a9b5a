"""What the checker says of brokers whose requests wait by a real clock."""

import pytest

from support.agreement.small_histories import history_of
from support.history.history_scripts import call, judged
from wheelproof_spec.base.calls import Gauge, NumDelayed
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    AppendRecords,
    BecomeLeader,
    NewRecord,
    PartitionRecords,
    ReplicationConfig,
)

_MS = 1_000_000
_WAIT_MS = 5


@pytest.mark.parametrize(
    ("lateness_ms", "now_ms", "verdict"),
    [
        # Nothing is promised, and a thread that expires requests may be slow.
        (ABSENT, 1_000, Verdict.PASS),
        (20, _WAIT_MS + 20, Verdict.PASS),
        (20, _WAIT_MS + 25, Verdict.FAIL),
    ],
)
def test_a_request_may_wait_for_its_time_and_the_lateness_that_is_claimed(
    lateness_ms: int | Absent, now_ms: int, verdict: Verdict
) -> None:
    config = ReplicationConfig(min_in_sync_replicas=1, lateness_ms=lateness_ms)
    leads = BecomeLeader(partition="t", leader_epoch=0, replica_ids=(1, 2), in_sync_ids=(1, 2))
    records = PartitionRecords(partition="t", records=(NewRecord(size=10, value="r"),))
    asks = AppendRecords(
        request="late", required_acks=ALL_ACKS, timeout_ms=_WAIT_MS, entries=(records,)
    )
    lines = (*call("a", leads), *call("a", asks), *call("a", NumDelayed(), Gauge(count=1)))
    times = [0] * 4 + [now_ms * _MS] * 2
    found = judged(history_of("replication", config, lines, quiet=True, times=times))
    assert found.verdict is verdict
    assert any("lateness was not judged" in note for note in found.notes) == (lateness_ms is ABSENT)
