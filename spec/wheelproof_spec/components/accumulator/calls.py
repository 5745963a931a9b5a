"""The calls of the record accumulator in a driven case, what they show, and how both are written.

Appends and flushes that block are left to wait on threads of their own; the sender's calls are made
one after the other. The answer to a call tells what has ended since the last one, once every thread
waits or has ended. Batches are named when they are drained: b1, b2, ...
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from wheelproof_spec.base.calls import ComponentCall, ComponentReset
from wheelproof_spec.base.port import Port
from wheelproof_spec.components.accumulator.oracle import Appended, Told

ACCUMULATOR = "accumulator"
"""The name of the accumulator among the components."""


class AppendFault(StrEnum):
    """What goes wrong in an append because the test wants it to."""

    ALLOCATOR = "allocator"
    """There is no memory for the buffer."""
    SMALL_BUFFER = "small_buffer"
    """The buffer has no room for anything: the append fails with the buffer in its hands."""


class CallbackFault(StrEnum):
    """What a record's callback does beside taking note."""

    RAISES = "raises"
    SENDS_AGAIN = "sends_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorConfig:
    """How an accumulator under test is made; partitions and nodes have numbers from 0.

    Sizes in bytes, times in milliseconds. A batch is tried again after `retry_backoff_ms`, which
    doubles with each attempt up to `retry_backoff_max_ms`.
    """

    total_memory: int
    batch_size: int
    linger_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    delivery_timeout_ms: int
    start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(ComponentReset):
    """Forget everything and make a new accumulator."""

    component: ClassVar[str] = ACCUMULATOR

    config: AccumulatorConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(ComponentCall):
    """Append a record whose value has `size` bytes, waiting at most `timeout_ms` milliseconds."""

    record: str
    partition: int
    size: int
    timeout_ms: int
    fault: AppendFault | None = None
    callback: CallbackFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(ComponentCall):
    """Ask which nodes are ready; `leaders` has the node of each partition that has a leader."""

    leaders: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(ComponentCall):
    """Drain for `node`, which leads `partitions`, at most `most` bytes, and mute what was taken."""

    node: int
    partitions: tuple[int, ...]
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(ComponentCall):
    """The response to a batch: stored from `offset` on. Its partition is unmuted."""

    batch: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(ComponentCall):
    """The response to a batch: an error that is final. Its partition is unmuted."""

    batch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(ComponentCall):
    """The response to a batch: try again. Its partition is unmuted."""

    batch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(ComponentCall):
    """The response to a batch: too large; batches of at most `size` bytes are to be made of it.

    A record that is larger gets one of its own. The partition is unmuted.
    """

    batch: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(ComponentCall):
    """Let everything that is too late end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush(ComponentCall):
    """Flush, on a thread of its own."""

    flush: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(ComponentCall):
    """Interrupt the thread of an append or of a flush."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(ComponentCall):
    """Set the clock to this many milliseconds."""

    to_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(ComponentCall):
    """Close the accumulator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(ComponentCall):
    """Abort all batches that have not ended."""


AccumulatorCall = (
    Reset
    | Append
    | Ready
    | Drain
    | Store
    | Fail
    | Retry
    | Split
    | Expire
    | Flush
    | Interrupt
    | Advance
    | Close
    | Abort
)
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorObservation:
    """What is seen after a call.

    `told`, `appended` and `flushed` are what has happened since the last call, each in its order;
    `flushed` tells of each flush whether it was interrupted. `drained` are batches with their
    records, `children` the batches that a split has made. The rest is what the accumulator says of
    itself, None where it does not tell: the pool's available bytes, whether a batch is queued,
    whether one has not ended, whether a thread flushes, whether a batch that has ended counts as
    in flight, and the batches whose memory was reused before the response to them.
    """

    told: tuple[Told, ...] = ()
    appended: tuple[Appended, ...] = ()
    flushed: Mapping[str, bool] = field(default_factory=dict[str, bool])
    drained: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    ready_nodes: frozenset[int] = frozenset()
    unknown_leaders: bool = False
    children: int = 0
    available: int | None = None
    undrained: bool | None = None
    incomplete: bool | None = None
    flushing: bool | None = None
    in_flight_ended: bool | None = None
    overwritten: tuple[str, ...] | None = None


AccumulatorPort = Port[AccumulatorCall, AccumulatorObservation]
"""An accumulator under a virtual clock."""
