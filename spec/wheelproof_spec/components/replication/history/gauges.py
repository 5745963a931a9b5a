"""Judges what a broker says of itself: how many requests wait, and under how many keys (2.10).

While nothing else is under way a count is known. While calls are under way it is bounded from
above: no request waits that was not made, and what a purge has dropped does not come back.
"""

from collections import Counter
from collections.abc import Iterable

from wheelproof_spec.base.calls import Gauge, NumDelayed, NumKeys
from wheelproof_spec.base.history.clock import VirtualClock
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import ReplicationClause
from wheelproof_spec.components.replication.history.broker import BrokerHistory
from wheelproof_spec.components.replication.history.requests import Request

_Watch = tuple[type[Request], str]


class Gauges:
    """The gauge reads and the purges of a history."""

    def __init__(self, broker: BrokerHistory) -> None:
        """Judge the gauges of a broker."""
        self._broker = broker
        self._left: list[Request] = []
        """The answered requests whose time-outs an advance may have left in a timer (1.11)."""
        self._reads: dict[int, bool] = {}
        """The open gauge reads and purges, and whether nothing else has happened since."""
        self._purged = False
        """Whether only gauge reads have happened since a purge of the lists."""
        self._most_waiting = 0
        """How many requests can have waited since nothing was under way."""
        self._watches: Counter[_Watch] = Counter()
        """What can have been watched since the lists were purged while nothing was under way."""

    def happens(self, index: int, *, is_read: bool, quiet: bool = False) -> None:
        """Record that something begins at this index; it is `quiet` if nothing is under way."""
        self._reads = dict.fromkeys(self._reads, False)
        if is_read:
            self._reads[index] = quiet
        self._purged = self._purged and is_read

    def asked(self, request: Request) -> None:
        """Record that a request begins, which may wait from now on."""
        self._most_waiting += 1
        self._watches.update(_watches((request,)))

    def answered(self, request: Request, *, left: bool) -> None:
        """Record that a request was answered; an advance may have `left` its time-out."""
        if left:
            self._left.append(request)

    def is_quiet(self) -> None:
        """Record that nothing is under way."""
        self._most_waiting = len(self._broker.waiting) + len(self._left)

    def given_up(self, invoked: int) -> None:
        """Record that a read failed, or that nobody knows how it ended."""
        self._reads.pop(invoked, None)

    def judge(self, asked: HistoryOp[object], answer: object, expired_ms: int) -> Violation | None:
        """Judge a read that returned; what is due by `expired_ms` has expired."""
        quiet = self._reads.pop(asked.index)
        waiting = self._broker.waiting
        if not isinstance(answer, Gauge):
            if quiet:
                self._purged, self._watches = True, Counter(_watches(waiting))
            return None
        sure = [request for request in waiting if not self._broker.may_have_expired(request)]
        if isinstance(asked.value, NumDelayed):
            if not isinstance(self._broker.clock, VirtualClock):
                # An unrecorded advance may be moving time-outs from list to list.
                return None
            clause = ReplicationClause.DELAYED_ARE_THE_WAITING
            self._left = [left for left in self._left if left.expires_high > expired_ms]
            least, most = len(sure), len(waiting) + len(self._left)
            most = most if quiet else self._most_waiting
        else:
            clause = ReplicationClause.NOTHING_IS_KEPT
            counts = (Counter(_watches(sure)), self._watches)
            if quiet and self._purged:
                counts = (counts[0], Counter(_watches(waiting)))
            keys = isinstance(asked.value, NumKeys)
            least, most = (len(count) if keys else count.total() for count in counts)
        least = least if quiet else 0
        self._broker.tally.tests(clause)
        if least <= answer.count <= most:
            return None
        return clause.broken(
            f"{asked.f}: {least} to {most}",
            f"{asked.f}: {answer.count}",
            f"{asked.f}() returned {answer.count}, but the requests that "
            f"{'wait' if quiet else 'can have waited'} make it {least} to {most}",
        )


def _watches(requests: Iterable[Request]) -> list[_Watch]:
    return [(type(request), name) for request in requests for name in request.partitions]
