"""Histories written by hand, a line each, and what the checker says of them."""

from collections.abc import Sequence

from support.agreement.small_histories import History, Line, history_of
from wheelproof_spec.app.recorded import history_checker
from wheelproof_spec.base.calls import (
    AvailableMemory,
    Interrupt,
    Memory,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.components.accumulator.calls import (
    Append,
    Appended,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    FlushInProgress,
    HasIncomplete,
    OfBatch,
    YesOrNo,
)
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    Queued,
    WaitingThreads,
)

Lines = tuple[Line, ...]
_NOTHING = Nothing()


def judged(history: History, profile: str | None = None) -> RunVerdict:
    checker = history_checker(history.header, profile)
    for op in history.ops:
        checker.feed(op)
    checker.feed(history.end)
    return checker.finish()


def broken_rule(config: Config, lines: Sequence[Lines], *, quiet: bool = True) -> str | None:
    """Return the first rule that a history breaks; its clock is a virtual one."""
    return next(iter(broken_rules(config, lines, quiet=quiet)), None)


def broken_rules(
    config: Config, lines: Sequence[Lines], *, quiet: bool = True, profile: str | None = None
) -> list[str]:
    """Return all rules that it breaks, in the order of their first places."""
    flat = [line for some in lines for line in some]
    history = history_of(config.component, config, flat, quiet=quiet, clock="virtual")
    verdict = judged(history, profile)
    if verdict.violation is None:
        return []
    return [verdict.violation.rule, *(also.violation.rule for also in verdict.also_broken)]


def begin(process: str, f: str, asked: object = _NOTHING) -> Lines:
    return (Line(process, "invoke", f, asked),)


def end(process: str, f: str, answer: object = _NOTHING) -> Lines:
    return (Line(process, "ok", f, answer),)


def refuse(process: str, f: str, error: str) -> Lines:
    return (Line(process, "fail", f, _NOTHING, error),)


def whole(process: str, f: str, asked: object, answer: object, *inside: Lines) -> Lines:
    """A call from its beginning to its end, and what happens inside it."""
    between = tuple(line for some in inside for line in some)
    return (*begin(process, f, asked), *between, *end(process, f, answer))


def call(process: str, asked: Call, answer: object = _NOTHING, *inside: Lines) -> Lines:
    """The same, where the call knows its name."""
    return whole(process, asked.name_on_the_wire(), asked, answer, *inside)


def available(size: int, *inside: Lines) -> Lines:
    return call("g", AvailableMemory(), Memory(size=size), *inside)


def interrupt(process: str) -> Lines:
    return call("i", Interrupt(name=process))


# A pool's


def lend(buffer: str, size: int, *inside: Lines, process: str = "a") -> Lines:
    asked = Allocate(size=size, max_time_to_block_ms=5)
    return call(process, asked, Allocated(buffer=buffer, size=size), *inside)


def ask(size: int, process: str = "a") -> Lines:
    return begin(process, "allocate", Allocate(size=size, max_time_to_block_ms=5))


def refuse_buffer(size: int, error: str, *inside: Lines, process: str = "a") -> Lines:
    between = tuple(line for some in inside for line in some)
    return (*ask(size, process), *between, *refuse(process, "allocate", error))


def give_back(buffer: str, *inside: Lines, process: str = "a") -> Lines:
    return call(process, Deallocate(buffer=buffer), _NOTHING, *inside)


def queued(count: int, *inside: Lines) -> Lines:
    return call("g", Queued(), WaitingThreads(count=count), *inside)


# An accumulator's


def append(
    name: str,
    *inside: Lines,
    partition: str = "p",
    new_batch: bool | None = None,
    process: str = "a",
    size: int = 10,
) -> Lines:
    asked = Append(record=name, partition=partition, size=size, max_time_to_block_ms=0)
    answer = Appended() if new_batch is None else Appended(new_batch_created=new_batch)
    return call(process, asked, answer, *inside)


def begin_append(name: str, process: str = "a", max_time_to_block_ms: int = 0) -> Lines:
    asked = Append(record=name, partition="p", size=10, max_time_to_block_ms=max_time_to_block_ms)
    return begin(process, "append", asked)


def called_back(name: str, offset: int | None = None, error: str | None = None) -> Lines:
    return begin("sender", "callback", Callback(record=name, offset=offset, error=error))


def drain(*batches: tuple[str, tuple[str, ...]], partition: str = "p") -> Lines:
    drained = tuple(
        DrainedBatch(batch=name, partition=partition, records=records) for name, records in batches
    )
    return call("sender", Drain(), Drained(batches=drained))


def of_batch(asked: OfBatch, *inside: Lines) -> Lines:
    return call("sender", asked, _NOTHING, *inside)


def plain(asked: Call, *inside: Lines, process: str = "sender") -> Lines:
    return call(process, asked, _NOTHING, *inside)


def has_incomplete(yes: bool, *inside: Lines) -> Lines:
    return call("g", HasIncomplete(), YesOrNo(yes=yes), *inside)


def flush_in_progress(yes: bool, *inside: Lines) -> Lines:
    return call("g", FlushInProgress(), YesOrNo(yes=yes), *inside)
