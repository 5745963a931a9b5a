"""The oracle's account of how long calls have waited for memory (standard 3.11).

A call may have waited once from its beginning to its end, or several times, so only bounds of the
counted time are known while it waits. The implementation chooses the windows of the ratio, which
begin 30 to 90 s ago, and in which no wait of the last 60 s is missing.
"""

from dataclasses import dataclass

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import PoolClause

_NS_OF_MS = 1_000_000
_SHORTEST_MS, _KEPT_MS, _LONGEST_MS = 30_000, 60_000, 90_000


@dataclass(slots=True)
class _Wait:
    began_ms: int
    ended_ms: int | None = None
    counts: bool = True
    """Whether its time is recorded for certain: not if the metric is made to fail."""

    def length_ms(self, now_ms: int, since_ms: int | None = None) -> int:
        """Return the length of the wait up to `now_ms`, and after `since_ms` if that is given."""
        began_ms = self.began_ms if since_ms is None else max(self.began_ms, since_ms)
        ended_ms = now_ms if self.ended_ms is None else self.ended_ms
        return max(ended_ms - began_ms, 0)


class WaitTimes:
    """The waits of a case; each time may be wrong by `slack_ms`."""

    def __init__(self, slack_ms: int) -> None:
        self._slack_ms = slack_ms
        self._waits: dict[str, _Wait] = {}

    def begin(self, name: str, now_ms: int, *, counts: bool) -> None:
        """Record that a call began."""
        self._waits[name] = _Wait(now_ms, counts=counts)

    def end(self, name: str, now_ms: int) -> None:
        """Record that a call has ended."""
        self._waits[name].ended_ms = now_ms

    def judge(self, total_ns: int | None, ratio_ppm: int | None, now_ms: int) -> Violation | None:
        """Return the violation by the wait times that an implementation reports now."""
        slack_ms = self._slack_ms * len(self._waits)
        waits = self._waits.values()
        ended = [wait for wait in waits if wait.counts and wait.ended_ms is not None]
        least_ms = sum(wait.length_ms(now_ms) for wait in ended) - slack_ms
        most_ms = sum(wait.length_ms(now_ms) for wait in waits) + slack_ms
        if total_ns is not None and not least_ms * _NS_OF_MS <= total_ns <= most_ms * _NS_OF_MS:
            bounds = f"{least_ms * _NS_OF_MS} to {most_ms * _NS_OF_MS} ns in all"
            return _wrong(f"{bounds} were waited", f"{total_ns} ns", now_ms)
        since_ms = now_ms - _KEPT_MS
        least_ms = sum(wait.length_ms(now_ms, since_ms) for wait in ended)
        since_ms = now_ms - _LONGEST_MS
        late = (wait for wait in waits if wait.ended_ms is None or wait.ended_ms >= since_ms)
        most_ms = sum(wait.length_ms(now_ms) for wait in late)
        least_ppm = _NS_OF_MS * (least_ms - slack_ms) // _LONGEST_MS
        most_ppm = -(-_NS_OF_MS * (most_ms + slack_ms) // _SHORTEST_MS)
        if ratio_ppm is None or least_ppm <= ratio_ppm <= most_ppm:
            return None
        bounds = f"a share of {least_ppm} to {most_ppm} millionths"
        return _wrong(f"{bounds} was waited of late", f"{ratio_ppm} millionths", now_ms)


def _wrong(expected: str, observed: str, now_ms: int) -> Violation:
    return PoolClause.COUNTS_WAITS.broken(
        expected, observed, f"it is {now_ms} ms; a wait counts from its beginning to its end"
    )
