"""The lines of a trace, a history and a file of vectors, whatever component they belong to."""

from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, TypeVar

from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    About,
    Absent,
    Count,
    Implementation,
    Name,
    Positive,
    Text,
    Time,
)

TRACE: Literal["wheelproof.trace/1"] = "wheelproof.trace/1"
HISTORY: Literal["wheelproof.history/1"] = "wheelproof.history/1"
VECTOR: Literal["wheelproof.vector/1"] = "wheelproof.vector/1"

Clock = Literal["virtual", "monotonic_ns", "process_ns", "none"]
"""The kind of clock that the times of a history come from."""

ConfigT = TypeVar("ConfigT")
ArgsT = TypeVar("ArgsT")
ObsT = TypeVar("ObsT")
ValueT = TypeVar("ValueT")
StepT = TypeVar("StepT")
CallT = TypeVar("CallT")
ExpectT = TypeVar("ExpectT")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader(Generic[ConfigT]):
    """The first line of a trace."""

    schema: Annotated[Literal["wheelproof.trace/1"], About("the format and its version")]
    kind: Literal["header"]
    trace: Annotated[Name, About("the name of the trace, which each of its lines repeats")]
    component: Annotated[Name, About("what was recorded")]
    impl: Implementation
    config: ConfigT
    clock: Annotated[
        Literal["virtual", "monotonic"],
        About("whether `t_ms` comes from a clock that the recorder moves or from a real one"),
    ]
    silent: Annotated[
        tuple[Name, ...] | Absent,
        About("actions that are never recorded; the checker finds out when they happened"),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent(Generic[ArgsT, ObsT]):
    """One step of one thread."""

    kind: Literal["event"]
    trace: Annotated[Name, About("the name of the trace")]
    thread: Annotated[Name, About("who took the step")]
    tseq: Annotated[Count, About("the number of the step within its thread: 0, 1, 2, ...")]
    action: Annotated[Name, About("the action of the detailed TLA+ module")]
    args: ArgsT | Absent = ABSENT
    obs: ObsT | Absent = ABSENT
    seq: Annotated[
        Count | Absent,
        About(
            "the place in the order of all steps: 0, 1, 2, ...; on every line or on none. Without "
            "it only the order within each thread is known, and the checker searches"
        ),
    ] = ABSENT
    t_ms: Annotated[Time | Absent, About("what the clock shows at the step, in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEnd:
    """The last line of a trace: without it the trace was cut off."""

    kind: Literal["end"]
    trace: Annotated[Name, About("the name of the trace")]
    events: Annotated[Count, About("how many events it has")]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHeader(Generic[ConfigT]):
    """The first line of a history."""

    schema: Annotated[Literal["wheelproof.history/1"], About("the format and its version")]
    kind: Literal["header"]
    history: Annotated[Name, About("the name of the history, which each of its lines repeats")]
    component: Annotated[Name, About("what was recorded")]
    impl: Implementation
    config: ConfigT
    clock: Annotated[
        Clock,
        About(
            "the clock of `time_ns`. `virtual`: no clock; the calls of `tick` move a virtual one. "
            "`monotonic_ns`: one monotonic clock for all processes. `process_ns`: one clock for "
            "each process, so times of several processes cannot be compared. `none`: no clock"
        ),
    ]
    order: Annotated[
        Literal["index", "process"] | Absent,
        About(
            "`index` (the default): one recorder wrote all lines, an invocation before its call "
            "and an answer after it, so the index is the order in real time. `process`: the lines "
            "come from several recorders, and only the order within each process is known"
        ),
    ] = ABSENT
    profile: Annotated[
        Name | Absent,
        About("the contract that the implementation claims to keep; `kafka` if absent"),
    ] = ABSENT
    clock_resolution_ns: Annotated[
        Positive | Absent, About("how coarse the clock is; 1 ms if absent")
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOp(Generic[ValueT]):
    """What one process asked for or got."""

    kind: Literal["op"]
    history: Annotated[Name, About("the name of the history")]
    index: Annotated[Count, About("the place of the line in the history: 0, 1, 2, ...")]
    process: Annotated[Name, About("who makes the call; one call at a time")]
    type: Annotated[
        Literal["invoke", "ok", "fail", "info"],
        About(
            "`invoke`: the call begins. `ok`: it returned. `fail`: it was refused without effect."
            " `info`: its outcome is unknown; it may take effect at any time from its beginning"
        ),
    ]
    f: Annotated[Name, About("the call")]
    value: ValueT
    time_ns: Annotated[Count | Absent, About("when, by the clock of the header")] = ABSENT
    error: Annotated[
        Name | Absent, About("why the call was refused; `fail` always has it, other types never")
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEnd:
    """The last line of a history; without it a history may fail, but it does not pass."""

    kind: Literal["end"]
    history: Annotated[Name, About("the name of the history")]
    ops: Annotated[Count, About("how many lines of kind `op` it has")]
    quiet: Annotated[
        bool,
        About(
            "whether the recorder waited until no call was under way; then every call has an end"
        ),
    ]
    stuck: Annotated[
        bool | Absent,
        About(
            "true: the calls under way will never return, since each of them waits for something "
            "that only one of them can do"
        ),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a vector comes from."""

    generator: Annotated[Name, About("what made it")]
    model: Annotated[Name | Absent, About("the TLA+ model, if a model made it")] = ABSENT
    seed: Annotated[Count | Absent, About("the seed, if the case was drawn")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStep(Generic[CallT, ExpectT]):
    """A request to the driver, and what its answer has to show."""

    op: Annotated[Name, About("the operation")]
    args: CallT | Absent = ABSENT
    expect: ExpectT | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector(Generic[ConfigT, StepT]):
    """A driven case, one a line, that any test suite can replay."""

    schema: Annotated[Literal["wheelproof.vector/1"], About("the format and its version")]
    id: Annotated[Name, About("component/topic/name-number")]
    component: Annotated[Name, About("what is driven")]
    result: Annotated[
        Literal["valid", "invalid", "acceptable"],
        About(
            "the calls have these answers; the last one is refused and changes nothing; the "
            "specification leaves it open"
        ),
    ]
    flags: Annotated[tuple[Name, ...], About("what the case is about")]
    needs: Annotated[tuple[Name, ...], About("capabilities of the driver that it needs")]
    profiles: Annotated[tuple[Name, ...], About("the contracts that say these answers")]
    config: ConfigT
    steps: Annotated[tuple[StepT, ...], About("the calls, in order")]
    origin: Origin
    hash: Annotated[Name, About("sha256: of the line without this field, keys sorted")]
    notes: Annotated[Text | Absent, About("the bug that the case is after")] = ABSENT


@dataclass(slots=True)
class KeptHistory:
    """A judged history; `rests` has the numbers of lines after which no call was in progress."""

    header: HistoryHeader[object]
    ops: list[HistoryOp[object]] = field(default_factory=list[HistoryOp[object]])
    rests: list[int] = field(default_factory=list[int])
