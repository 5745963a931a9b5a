"""The calls that several components have."""

from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Time, Wire
from wheelproof_spec.base.codec.writer import plain_fields
from wheelproof_spec.base.component import Call, Config

ConfigT = TypeVar("ConfigT", bound=Config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Call, Generic[ConfigT]):
    """Forget everything and make a new component; its clock shows `config.start_ms`."""

    config: ConfigT

    def fields(self) -> dict[str, object]:
        """Return the component and its configuration."""
        config = plain_fields(self.config, Wire.DRIVEN)
        return {"component": self.config.component, "config": config}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(Call):
    """Set the clock to this many milliseconds and do all that is due by then, without waiting."""

    to_ms: Annotated[Time, About("what the clock shows then, in ms")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Call):
    """A virtual clock is moved."""

    to_ms: Annotated[Time, About("what the clock shows then, in ms; never less than before")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceClock(Call):
    """The timer advances (standard 1.5)."""

    timeout_ms: Annotated[Count | Absent, About("the longest wait in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """advance_clock returned."""

    expired: Annotated[bool | Absent, About("whether a bucket was taken")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableMemory(Call):
    """The available memory is asked for (standard 3.9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """An amount of memory."""

    size: Annotated[Count, About("the amount in bytes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Call):
    """Interrupt the thread of a call; no effect if the call has ended."""

    name: Annotated[
        Name, About("driven: the name of the call; in a history: the process that makes it")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(Call):
    """The component is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched(Call):
    """The number of watches, operations times keys, is asked for (standard 2.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumDelayed(Call):
    """The number of operations that wait to expire is asked for (standard 2.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumKeys(Call):
    """The number of keys that have operations is asked for (standard 2.6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeCompleted(Call):
    """Operations that are done are dropped from all lists (standard 2.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What a gauge shows."""

    count: Annotated[Count, About("how many")]
