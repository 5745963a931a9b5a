"""What is recorded of the buffer pool."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof_spec.base.codec.definitions import CallDefinition, ComponentDefinition
from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """How the pool was made."""

    total: Annotated[Count, About("its memory in bytes")]
    poolable: Annotated[Positive, About("the size of the buffers that are kept, in bytes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocateAsked:
    """allocate is called."""

    bytes: Annotated[Count, About("the size in bytes")]
    max_block_ms: Annotated[Count, About("the longest wait in ms")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocateAnswer:
    """allocate returned a buffer."""

    buffer: Annotated[Name, About("a name that no other buffer has while this one is lent")]
    bytes: Annotated[Count, About("the capacity that was asked for, in bytes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeallocateAsked:
    """deallocate is called."""

    buffer: Annotated[Name, About("the buffer")]
    bytes: Annotated[Count | Absent, About("the size that is given back, in bytes")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """An amount of memory."""

    bytes: Annotated[Count, About("the amount in bytes")]


MEMORY = CallDefinition(
    f="available_memory", about="what could be lent (semantics.md 3.9)", answered=MemoryAnswer
)


_POOL_CALLS = (
    CallDefinition(
        f="allocate",
        about="a buffer is asked for (semantics.md 3.1 - 3.4)",
        asked=AllocateAsked,
        answered=AllocateAnswer,
    ),
    CallDefinition(
        f="deallocate", about="a buffer is given back (semantics.md 3.7)", asked=DeallocateAsked
    ),
    MEMORY,
    CallDefinition(f="close", about="the component is closed"),
)


BUFFER_POOL = ComponentDefinition(
    name="buffer_pool", config=PoolSettings, calls=_POOL_CALLS, actions=(), steps=()
)
