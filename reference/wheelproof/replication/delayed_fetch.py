"""A fetch request that waits for data.

A follower or a consumer that has read everything would ask again and again. It waits instead until
there is enough to be worth an answer.

>>> from wheelproof.replication.delayed_fetch import DelayedFetch
>>> from wheelproof.replication.log_results import FetchProgress, LogOffsetMetadata
>>> from wheelproof.replication.requests import FetchParams, FetchPartition
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> start = LogOffsetMetadata(
...     message_offset=0, segment_base_offset=0, relative_position_in_segment=0
... )
>>> end = LogOffsetMetadata(
...     message_offset=2, segment_base_offset=0, relative_position_in_segment=80
... )
>>> fetch = DelayedFetch(
...     FetchParams(replica_id=None, max_wait_ms=500, min_bytes=50, max_bytes=1_000),
...     {payments: FetchPartition(fetch_offset=0, max_bytes=1_000)},
...     progress_of=lambda partition, request: FetchProgress(start=start, end=end),
...     read=lambda: {},
...     on_expired=lambda: None,
...     callback=lambda data: print("answered"),
... )
>>> fetch.try_complete()
answered
True

Invariants:

- What it looks at never counts twice: a try has no effect unless it completes.
"""

from collections.abc import Callable, Mapping

from wheelproof.purgatory import DelayedOperation
from wheelproof.replication.log_results import FetchProgress
from wheelproof.replication.requests import (
    FetchCallback,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
)
from wheelproof.topic_partition import TopicPartition


class DelayedFetch(DelayedOperation):
    """Completes once there is enough to answer, or waiting makes no sense (standard 5.2).

    It has no side effects before `on_complete`, which reads the logs again.
    TLA+: FirstTry, LastTry, GetAnswer and Expire of ProduceFetch, for Fetchers.
    """

    def __init__(
        self,
        params: FetchParams,
        requests: Mapping[TopicPartition, FetchPartition],
        *,
        progress_of: Callable[[TopicPartition, FetchPartition], FetchProgress | None],
        read: Callable[[], Mapping[TopicPartition, FetchPartitionData]],
        on_expired: Callable[[], None],
        callback: FetchCallback,
    ) -> None:
        """Make a request that waits as long as `params` says."""
        super().__init__(params.max_wait_ms)
        self._params = params
        self._requests = dict(requests)
        self._progress_of = progress_of
        self._read = read
        self._on_expired = on_expired
        self._callback = callback

    def try_complete(self) -> bool:
        """Add up what each partition has to give."""
        available = 0
        for topic_partition, request in self._requests.items():
            progress = self._progress_of(topic_partition, request)
            if progress is None or progress.is_beyond_the_end:
                return self.force_complete()
            if self._segment_is_complete(progress):
                return self.force_complete()
            available += self._available_bytes(progress, request)
        return available >= self._params.min_bytes and self.force_complete()

    def on_complete(self) -> None:
        """Read and answer."""
        self._callback(self._read())

    def on_expiration(self) -> None:
        """Count the request as expired; it has been answered with what there was."""
        self._on_expired()

    def _segment_is_complete(self, progress: FetchProgress) -> bool:
        """Tell whether the answer cannot grow: it comes from one segment, which has ended."""
        return progress.start.on_older_segment(progress.end)

    def _available_bytes(self, progress: FetchProgress, request: FetchPartition) -> int:
        return min(progress.end.position_diff(progress.start), request.max_bytes)
