"""The lines of purgatories' histories that are written by hand."""

from support.history.history_scripts import Lines, begin, call, end
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    AwaitSubmitted,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    Satisfy,
    TryComplete,
    TryCompleteElseWatch,
)

GAUGES: dict[str, Call] = {
    "watched": Watched(),
    "num_delayed": NumDelayed(),
    "num_keys": NumKeys(),
}


def begin_call(process: str, asked: Call) -> Lines:
    return begin(process, asked.name_on_the_wire(), asked)


def end_call(process: str, asked: Call, answer: object = None) -> Lines:
    return end(process, asked.name_on_the_wire(), Nothing() if answer is None else answer)


def hand_in(name: str, delay_ms: int = 10, keys: str = "k") -> TryCompleteElseWatch:
    return TryCompleteElseWatch(operation=name, keys=tuple(keys), delay_ms=delay_ms)


def watch(
    name: str, *inside: Lines, done: bool = False, delay_ms: int = 10, keys: str = "k"
) -> Lines:
    return call("w", hand_in(name, delay_ms, keys), Completed(completed=done), *inside)


def satisfy(name: str) -> Lines:
    return call("s", Satisfy(operation=name))


def check(count: int | None, *inside: Lines, process: str = "c") -> Lines:
    return call(process, CheckAndComplete(key="k"), Checked(count=count), *inside)


def force(name: str, *inside: Lines, done: bool) -> Lines:
    return call("f", ForceComplete(operation=name), Completed(completed=done), *inside)


def cancel(*names: str, inside: Lines = ()) -> Lines:
    return call("x", CancelForKey(key="k"), Cancelled(count=len(names), cancelled=names), inside)


def tries(process: str, name: str) -> Lines:
    return begin_call(process, TryComplete(operation=name))


def tried(process: str, name: str) -> Lines:
    return end_call(process, TryComplete(operation=name))


def completes(name: str, process: str = "c") -> Lines:
    return begin_call(process, OnComplete(operation=name))


def completed(name: str, process: str = "c") -> Lines:
    return end_call(process, OnComplete(operation=name))


def expires(name: str, process: str = "timer") -> Lines:
    return begin_call(process, OnExpiration(operation=name))


def gauge(name: str, count: int) -> Lines:
    return call("g", GAUGES[name], Gauge(count=count))


def tick(to_ms: int) -> Lines:
    return call("clock", Tick(to_ms=to_ms))


def advance(*inside: Lines) -> Lines:
    return call("reaper", AdvanceClock(), Advanced(), *inside)


def await_submitted() -> Lines:
    return call("reaper", AwaitSubmitted())


def purge(*inside: Lines) -> Lines:
    return call("p", PurgeCompleted(), Nothing(), *inside)
