"""What is known of one partition of a broker, from what was asked of it and answered.

Where its batches stand is in `places`. The log's end and its high watermark lie between two
bounds: what they have reached for sure, and what they may have reached. A call that changes the
leader, or the log, disturbs: of a request that meets one, only its place is judged.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

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
from wheelproof_spec.components.replication.history.reign import Reign
from wheelproof_spec.components.replication.history.requests import Batch, Request, Seen

_NEVER = -1


@dataclass(frozen=True, slots=True)
class Step:
    """What a partition had reached for sure at some moment, and what the clock may have shown."""

    seen: Seen
    at_ms: int


class PartitionHistory:
    """One partition of a broker, which does not exist before a call makes it."""

    def __init__(self, config: ReplicationConfig, *, as_kafka: bool) -> None:
        """Begin without a leader and with an empty log."""
        self._config = config
        self.as_kafka = as_kafka
        self.segment_bytes = config.segment_bytes
        self.exists = self.leads = False
        self.epoch = -1
        self.reigns: list[Reign] = []
        self.lost_track = False
        """Whether calls that change it have met, so that nobody knows what it is."""
        self.waiting: dict[Request, None] = {}
        """The requests that name it and have not been answered."""
        self._controls: dict[int, Control] = {}
        self._disturbed = self._shrunk = _NEVER
        self._shrinks = 0
        self._fetches: dict[int, tuple[int, int]] = {}
        """The followers' fetches under way: who, and at which offset."""
        self._met: set[int] = set()
        """Those that have met another one."""
        self.places = Places(config.segment_bytes)
        self.log = self.places.log
        self.low = self.high = 0
        """What the high watermark has reached for sure, and what it may have reached."""
        self._steps: list[Step] = []
        """How the high watermark rose, as far as everybody has had the time to act upon it."""
        self.settled = Step(Seen(0, 0), _NEVER)

    # What is known

    def is_calm_since(self, index: int) -> bool:
        """Tell whether nothing has changed the leader, or the log, from `index` to now."""
        return not self.lost_track and not self._controls and self._disturbed < index

    @property
    def reign(self) -> Reign:
        """The time as leader that has begun last."""
        return self.reigns[-1]

    @property
    def seen(self) -> Seen:
        """What the high watermark and the end of the log have reached for sure."""
        return Seen(self.low, max(self.log.end, self.places.end_low))

    def is_too_high(self, offset: int) -> bool:
        """Tell whether an offset is known to lie beyond the high watermark: its batch, that is."""
        return offset <= self.log.end and self.log.batch_base(offset) > self.high

    # Who leads

    def control_begins(self, call: Control, index: int) -> None:
        """A call begins that changes the leader, or the log."""
        self.lost_track = self.lost_track or bool(self._controls)
        self._controls[index] = call
        self._disturbed = index
        if isinstance(call, BecomeLeader) and not self.lost_track:
            self._begin_reign(call, index)

    def control_fails(self, call: Control, invoked: int, index: int) -> Violation | None:
        """The call was refused; tell whether it lay within the domain for sure."""
        self._end_control(invoked, index)
        if self.lost_track:
            return None
        if isinstance(call, BecomeLeader):
            self.reigns.pop()
        if self._problem(call, self.seen.end) is not None:
            return None
        return _outside(call, "it is carried out", "it was refused", "it lies within the domain")

    def control_ends(self, call: Control, invoked: int, index: int) -> Violation | None:
        """The call was carried out; tell whether it lay outside the domain for sure."""
        self._end_control(invoked, index)
        if self.lost_track:
            return None
        problem = self._problem(call, self.places.end_high)
        if problem is not None:
            return _outside(call, "it is refused", "it was carried out", problem)
        match call:
            case BecomeLeader(leader_epoch=epoch):
                self._end_reign(self.reigns[:-1], index)
                self.exists, self.leads, self.epoch = True, True, epoch
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

    def shrink_begins(self) -> None:
        """A call begins that may drop replicas from the in-sync set."""
        self._shrinks += 1
        for reign in self._live():
            reign.shrink_begins()
        self.raise_high()

    def shrink_ends(self, index: int) -> None:
        """The call is over."""
        self._shrinks -= 1
        self._shrunk = index

    # Appends

    def append_begins(self, batch: Batch) -> None:
        """A batch may be appended from now on."""
        self.places.expect(batch)
        self.raise_high()

    def refused(self, batch: Batch) -> Violation | None:
        """A batch was not appended; tell whether something is missing before others now."""
        self.places.forget(batch)
        return None if self.lost_track else self.places.too_far()

    def place(self, batch: Batch) -> Violation | None:
        """Put a batch, whose base is known, where it belongs if that is known by now."""
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

    # Followers

    def fetch_begins(self, replica: int, offset: int, index: int) -> None:
        """A follower says how far it has come."""
        if self._fetches:
            self._met |= {*self._fetches, index}
        self._fetches[index] = (replica, offset)
        for reign in self._live():
            reign.fetch_begins(replica, offset, self.low)
        self.raise_high()

    def fetch_ends(self, invoked: int, index: int, *, noted: bool) -> None:
        """The follower's call is over; it was `noted` unless it was refused."""
        replica, offset = self._fetches.pop(invoked)
        # While the controller is being asked about one replica, Kafka asks about no other one.
        met = self.as_kafka and invoked in self._met
        self._met.discard(invoked)
        for reign in self._live():
            reign.fetch_ends(replica)
        if not noted or not self.leads or not self.is_calm_since(invoked):
            return
        self.places.reaches(offset)
        stays = not self._shrinks and self._shrunk < invoked and not met
        high = self.high if stays else self.places.end_high + 1
        self.reign.fetch_was_noted(replica, offset, high, index)
        self.raise_low()

    # Bounds

    def raise_high(self) -> None:
        """Let the high watermark's upper bound follow what has become possible."""
        for reign in self._live():
            if reign.may_be_enough():
                self.high = max(self.high, reign.high_watermark_high(self.places.end_high))
            reign.peak = max(reign.peak, self.high)

    def raise_low(self, told: int = 0) -> None:
        """Let its lower bound follow what has become sure, or what somebody was `told`."""
        if self.leads and not self._controls and not self.lost_track:
            self.places.reaches(told)
            low = self.reign.high_watermark_low(self.seen.end)
            # A follower that fetches inside a batch counts as far as the batch before.
            self.low = max(self.low, told, self.places.batch_base(low))

    def settle(self, step: Step) -> None:
        """Every call that might have acted upon `step` is over."""
        seen = Seen(min(step.seen.high_watermark, self.low), min(step.seen.end, self.seen.end))
        settled = self.settled.seen
        if self.leads and seen.high_watermark > settled.high_watermark:
            self._steps.append(Step(seen, step.at_ms))
        self.settled = Step(
            Seen(max(seen.high_watermark, settled.high_watermark), max(seen.end, settled.end)),
            max(step.at_ms, self.settled.at_ms),
        )

    def has_to_be_acknowledged(self, batch: Batch) -> bool:
        """Tell whether the replicas had a batch in time, and everybody could say so."""
        if batch.placed and not self.places.holds(batch):
            return False
        # Wherever it is, it is before the end.
        end = batch.next_offset if batch.placed else self.places.end_high
        steps = self._steps
        at = bisect_left(steps, end, key=lambda step: step.seen.high_watermark)
        return at < len(steps) and steps[at].at_ms < batch.request.expires_low

    # Inside

    def _live(self) -> Sequence[Reign]:
        """Return the times as leader that are not over for sure: the current one, and the next."""
        return [reign for reign in self.reigns[-2:] if reign.over is None]

    def _begin_reign(self, call: BecomeLeader, index: int) -> None:
        followers = {*call.replica_ids} - {self._config.broker_id}
        in_sync = followers & {*call.in_sync_ids}
        least = self._config.min_in_sync_replicas
        reign = Reign(call.leader_epoch, index, followers, in_sync, least)
        if self.leads:
            reign.follows(self.reign)
        for replica, offset in self._fetches.values():
            reign.fetch_begins(replica, offset, self.low)
        if self._shrinks:
            reign.shrink_begins()
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
        """Return why a call lies outside the domain if the log ends at `end`, if it does."""
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
        """Return the times as leader in which a batch can have been appended at its base."""
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
        """Tell whether the high watermark may have reached what was appended in a reign."""
        for later in self.reigns[reign.number :]:
            if later.peak >= offset:
                return True
            if later.cut < offset and not self.as_kafka:
                # Kafka acknowledges by the offset, whatever stands there by then (finding 18).
                return False
        return False

    def _cut_since(self, reign: Reign) -> int:
        """Return where the log was truncated since a reign began, at least."""
        return min(later.cut for later in self.reigns[reign.number :])


def _outside(call: Control, expected: str, observed: str, reason: str) -> Violation:
    name = f"{call.name_on_the_wire()} of {call.partition!r}"
    return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
        f"{name}: {expected}", f"{name}: {observed}", reason
    )
