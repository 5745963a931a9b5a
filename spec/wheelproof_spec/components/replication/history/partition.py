"""The knowledge about one partition of a broker, from its calls and their answers.

`places` has the places of its batches. The log's end and the high watermark lie between two bounds:
what they surely have reached, and what they may have reached. A call that changes the leader or the
log is a disturbance: if a request overlaps such a call, only the place of its batch is judged.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    BecomeFollower,
    BecomeLeader,
    Control,
    ReplicationClause,
    ReplicationConfig,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.history.places import Places, wrong_place
from wheelproof_spec.components.replication.history.reign import FollowerFetch, Reign
from wheelproof_spec.components.replication.history.requests import Batch, Request, Seen

_NEVER = -1


@dataclass(frozen=True, slots=True)
class Step:
    """The lower bounds of a partition, and the latest time when calls that saw less were over."""

    seen: Seen
    at_ms: int


class PartitionHistory:
    """One partition of a broker; it does not exist before a call makes it."""

    def __init__(self, config: ReplicationConfig, *, as_kafka: bool) -> None:
        """Begin without a leader and with an empty log."""
        self._config = config
        self.as_kafka = as_kafka
        self.segment_bytes = config.segment_bytes
        self.exists = self.leads = False
        self.not_led_since_ms = NEVER
        """The time by which it was not led any more; NEVER if it may be led."""
        self.epoch = -1
        self.reigns: list[Reign] = []
        self.lost_track = False
        """Whether calls that change it have overlapped, so that its state is unknown."""
        self.waiting: dict[Request, None] = {}
        """The requests that name it and have not been answered."""
        self._controls: dict[int, Control] = {}
        self._disturbed = self._shrunk = _NEVER
        self._shrinks = 0
        self._shrinks_by_ms = -NEVER
        self._fetches: dict[int, FollowerFetch] = {}
        """The followers' fetches under way."""
        self._fetched = _NEVER
        """The index at which the last of them began."""
        self._met: set[int] = set()
        """The fetches that have overlapped another fetch."""
        self.places = Places(config.segment_bytes)
        self.log = self.places.log
        self.low = self.high = 0
        """The bounds of the high watermark: surely reached, and possibly reached."""
        self._steps: list[Step] = []
        """The rises of the high watermark that all calls have had the time to act upon."""
        self.settled = Step(Seen(0, 0), _NEVER)

    # Knowledge

    def is_unchanged_since(self, index: int) -> bool:
        """Tell whether nothing has changed the leader, or the log, from `index` to now."""
        return not self.lost_track and not self._controls and self._disturbed < index

    @property
    def is_disturbed(self) -> bool:
        """Whether a call is under way that may change the leader, or the log."""
        return bool(self._controls)

    @property
    def reign(self) -> Reign:
        """The latest reign."""
        return self.reigns[-1]

    @property
    def seen(self) -> Seen:
        """The lower bounds of the high watermark and of the end of the log."""
        return Seen(self.low, max(self.log.end, self.places.end_low))

    def is_too_high(self, offset: int) -> bool:
        """Tell whether the batch of an offset surely begins beyond the high watermark."""
        return offset <= self.log.end and self.log.batch_base(offset) > self.high

    # Leadership

    def control_begins(self, call: Control, index: int, now_ms: int) -> None:
        """Record that a call began that changes the leader or the log, at `now_ms` or later."""
        self.lost_track = self.lost_track or bool(self._controls)
        self._controls[index] = call
        self._disturbed = index
        if isinstance(call, BecomeLeader) and not self.lost_track:
            self._begin_reign(call, index, now_ms)

    def control_fails(self, call: Control, invoked: int, index: int) -> Violation | None:
        """Judge a refusal of the call: a violation if it surely lay within the domain."""
        self._end_control(invoked, index)
        if self.lost_track:
            return None
        if isinstance(call, BecomeLeader):
            self.reigns.pop()
        if self._problem(call, self.seen.end) is not None:
            return None
        return _outside(call, "carried out", "refused", "though it is within the domain")

    def control_ends(
        self, call: Control, invoked: int, index: int, now_ms: int
    ) -> Violation | None:
        """Judge the return of the call: a violation if it surely lay outside the domain."""
        self._end_control(invoked, index)
        if self.lost_track:
            return None
        problem = self._problem(call, self.places.end_high)
        if problem is not None:
            return _outside(call, "refused", "carried out", f"though {problem}")
        match call:
            case BecomeLeader(leader_epoch=epoch):
                self._end_reign(self.reigns[:-1], index)
                self.exists, self.leads, self.epoch = True, True, epoch
                self.reign.has_begun(now_ms)
                self.reign.start = self.places.end_high
                self._steps.clear()
                self.raise_low()
            case BecomeFollower(leader_epoch=epoch):
                self._end_reign(self.reigns, index)
                self.exists, self.leads, self.epoch = True, False, epoch
            case StopReplica():
                self._end_reign(self.reigns, index)
                self.exists, self.leads, self.epoch = False, False, -1
                self._truncate(0)
            case TruncateAsFollower(offset=offset):
                self._truncate(offset)
        return None

    def shrink_begins(self, by_ms: int) -> None:
        """Record that a call began that may drop replicas from the in-sync set."""
        self._shrinks += 1
        self.shrinks(by_ms)

    def shrinks(self, by_ms: int) -> None:
        """Record that a shrink under way may have read the clock by now, `by_ms` at the latest."""
        self._shrinks_by_ms = by_ms
        for reign in self._live():
            reign.shrinks(by_ms - self._config.replica_lag_time_max_ms)
        self.raise_high()

    def shrink_ends(self, index: int) -> None:
        """Record that such a call ended."""
        self._shrinks -= 1
        self._shrunk = index

    def has_shrunk(self, invoked: int, index: int, by_ms: int) -> None:
        """Record that a shrink was carried out that began at `invoked`, at `by_ms` or later.

        Kafka asks the controller, and waits for the replica until that has answered.
        """
        alone = self.is_unchanged_since(invoked) and self._fetched < invoked
        if alone and self.leads and not self.as_kafka:
            before_ms = by_ms - self._config.replica_lag_time_max_ms
            self.reign.has_shrunk(self.seen.end, before_ms, index)
            self.raise_low()

    # Appends

    def append_begins(self, batch: Batch) -> None:
        """Record that a batch may be appended from now on."""
        self.places.expect(batch)
        for reign in self._live():
            for fetch in self._fetches.values():
                # It may have asked from beyond the end, and may be within the log by now.
                reign.may_note(fetch, self.low, self.places.end_high)
        self.raise_high()

    def refused(self, batch: Batch) -> Violation | None:
        """Record that a batch was not appended; judge whether a gap cannot be filled now."""
        self.places.forget(batch)
        return None if self.lost_track else self.places.too_far()

    def place(self, batch: Batch) -> Violation | None:
        """Put a batch, whose base is known, at its place if its leader is known by now."""
        if self.lost_track:
            return None
        possible, end = self._possible_reigns(batch), self.places.end_high
        if not possible:
            return wrong_place(
                f"{batch} are where nothing else is"
                + (", and the replicas have them" if batch.acknowledged else ""),
                f"the log ends at {end} at most, its high watermark at {self.high}",
                "no leader can have appended and acknowledged them there",
            )
        if batch.placed or len(possible) > 1:
            return None
        self.places.forget(batch)
        batch.placed, batch.epoch = True, possible[0].epoch
        assert batch.base is not None
        batch.cut = self._cut_since(possible[0])
        if batch.base >= batch.cut:
            self.places.lost(batch, batch.base)
            return self.places.too_far()
        violation = self.places.put(batch)
        self.raise_high()
        self.raise_low()
        return violation

    def has(self, batch: Batch) -> Violation | None:
        """Record that a batch was surely appended since its request began, wherever."""
        if batch.placed:
            return None
        base = self.places.surely_has(batch)
        if base is None or batch.base is not None:
            self.raise_low()
            return None
        batch.base = base
        return self.place(batch)

    # Followers

    def fetch_begins(self, fetch: FollowerFetch, index: int) -> None:
        """Record that a follower's fetch began: it tells its log's end."""
        if self._fetches:
            self._met |= {*self._fetches, index}
        self._fetches[index], self._fetched = fetch, index
        for reign in self._live():
            reign.fetch_begins(fetch, self.seen.end)
            reign.may_note(fetch, self.low, self.places.end_high)
        self.raise_high()

    def fetch_ends(self, invoked: int, index: int, now_ms: int, *, noted: bool) -> None:
        """Record that the follower's fetch ended; it was `noted` unless it was refused."""
        fetch = self._fetches.pop(invoked)
        # While Kafka asks the controller about one replica, it asks about no other replica.
        met = self.as_kafka and invoked in self._met
        self._met.discard(invoked)
        for reign in self._live():
            reign.fetch_ends(fetch, now_ms)
        if not noted or not self.leads or not self.is_unchanged_since(invoked):
            return
        self.places.reaches(fetch.offset)
        if fetch.offset >= self.places.end_high:
            self.reign.was_caught_up(fetch)
        stays = not self._shrinks and self._shrunk < invoked and not met
        high = self.high if stays else self.places.end_high + 1
        self.reign.fetch_was_noted(fetch, high, index)
        self.raise_low()

    # Bounds

    def raise_high(self) -> None:
        """Raise the upper bound of the high watermark to what is possible now."""
        for reign in self._live():
            if reign.may_be_enough():
                self.high = max(self.high, reign.high_watermark_high(self.places.end_high))
            reign.peak = max(reign.peak, self.high)

    def raise_low(self, told: int = 0) -> None:
        """Raise its lower bound to what is sure now, or to what an answer has `told`."""
        if self.leads and not self._controls and not self.lost_track:
            self.places.reaches(told)
            low = self.reign.high_watermark_low(self.seen.end)
            # A follower that fetches inside a batch counts up to the previous batch.
            self.low = max(self.low, told, self.places.batch_base(low))

    def settle(self, step: Step) -> None:
        """Record that every call that might have acted upon `step` is over."""
        seen = Seen(min(step.seen.high_watermark, self.low), min(step.seen.end, self.seen.end))
        settled = self.settled.seen
        if self.leads and seen.high_watermark > settled.high_watermark:
            self._steps.append(Step(seen, step.at_ms))
        self.settled = Step(
            Seen(max(seen.high_watermark, settled.high_watermark), max(seen.end, settled.end)),
            max(step.at_ms, self.settled.at_ms),
        )

    def has_to_be_acknowledged(self, batch: Batch) -> bool:
        """Tell whether the replicas had a batch in time, and all calls could acknowledge it."""
        if batch.placed and not self.places.holds(batch):
            return False
        # Its place may be unknown, but it is before the end.
        end = batch.next_offset if batch.placed else self.places.end_high
        steps = self._steps
        at = bisect_left(steps, end, key=lambda step: step.seen.high_watermark)
        return at < len(steps) and steps[at].at_ms < batch.request.expires_low

    # Inside

    def _live(self) -> Sequence[Reign]:
        """Return the reigns that are not surely over: the current one, and the next."""
        return [reign for reign in self.reigns[-2:] if reign.over is None]

    def _begin_reign(self, call: BecomeLeader, index: int, now_ms: int) -> None:
        followers = {*call.replica_ids} - {self._config.broker_id}
        in_sync = followers & {*call.in_sync_ids}
        least = self._config.min_in_sync_replicas
        reign = Reign(call.leader_epoch, index, followers, in_sync, least, now_ms)
        if self.leads:
            reign.follows(self.reign)
        reign.start_low = self.seen.end
        for fetch in self._fetches.values():
            reign.fetch_begins(fetch, self.seen.end)
            reign.may_note(fetch, self.low, self.places.end_high)
        if self._shrinks:
            reign.shrinks(self._shrinks_by_ms - self._config.replica_lag_time_max_ms)
        reign.number = len(self.reigns)
        self.reigns.append(reign)
        self.raise_high()

    def _end_reign(self, reigns: Sequence[Reign], index: int) -> None:
        if reigns and reigns[-1].over is None:
            reigns[-1].over = index

    def _end_control(self, invoked: int, index: int) -> None:
        del self._controls[invoked]
        self._disturbed = index

    def _problem(self, call: Control, end: int) -> str | None:
        """Return why a call lies outside the domain for a log that ends at `end`, or None."""
        match call:
            case TruncateAsFollower(offset=offset):
                if not self.exists or self.leads:
                    return "the broker does not follow there"
                return None if 0 <= offset <= end else f"the log ends at {end}"
            case StopReplica():
                return None
            case BecomeLeader(replica_ids=replicas, in_sync_ids=in_sync):
                if not {self._config.broker_id} <= {*in_sync} <= {*replicas}:
                    return "who is in sync is a replica, and the leader is"
            case BecomeFollower():
                pass
        is_newer = call.leader_epoch > self.epoch
        return None if is_newer else f"the epoch is {self.epoch} already"

    def _truncate(self, offset: int) -> None:
        if self.reigns:
            self.reign.cut = min(self.reign.cut, offset)
        self.places.truncate(offset)
        self.low, self.high = min(self.low, offset), min(self.high, offset)
        self._steps.clear()
        settled = self.settled.seen
        self.settled = Step(
            Seen(min(settled.high_watermark, offset), min(settled.end, offset)), _NEVER
        )

    def _possible_reigns(self, batch: Batch) -> list[Reign]:
        """Return the reigns in which a batch can have been appended at its base."""
        found: list[Reign] = []
        for reign in reversed(self.reigns):
            if reign.over is not None and reign.over < batch.request.invoked:
                break
            if self._may_be_of(batch, reign):
                found.append(reign)
        return found

    def _may_be_of(self, batch: Batch, reign: Reign) -> bool:
        assert batch.base is not None
        ended = batch.request.ended
        if ended is not None and reign.begun > ended:
            return False
        if batch.epoch is not None and batch.epoch != reign.epoch:
            return False
        if batch.acknowledged and not self._may_have_reached(reign, batch.next_offset):
            return False
        if self._cut_since(reign) <= batch.base:
            return True
        return self.places.may_hold(batch, batch.base)

    def _may_have_reached(self, reign: Reign, offset: int) -> bool:
        """Tell whether the high watermark may have reached `offset` of what a reign appended."""
        for later in self.reigns[reign.number :]:
            if later.peak >= offset:
                return True
            if later.cut < offset and not self.as_kafka:
                # Kafka acknowledges by the offset, even if other records are there (finding 18).
                return False
        return False

    def _cut_since(self, reign: Reign) -> int:
        """Return the lowest offset at which the log was truncated since a reign began."""
        return min(later.cut for later in self.reigns[reign.number :])


def _outside(call: Control, expected: str, observed: str, reason: str) -> Violation:
    name = f"{call.name_on_the_wire()} of {call.partition!r}"
    return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
        f"{name} is {expected}", f"{name} was {observed}", f"{name} was {observed}, {reason}"
    )
