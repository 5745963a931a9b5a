"""The states of a pool between the events of a history, and the effects that lead to the next one.

A call of a pool takes effect in steps (standard 3): an allocation is refused, or reserves its
memory, or joins the line and is served when it is first; what it has reserved is lent when the
call ends, or goes back. A history does not show the steps. So all orders of them are tried that
fit the order of the events, and the answers, which are known beforehand.

Not modelled, so that nothing right is ever excluded: which bytes are kept buffers; how much the
first of the line has gathered, which may be any part; when a thread takes note of an interruption.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.components.buffer_pool.history.ledger import CLOSED, EXHAUSTED, is_in_domain

_NS = 1_000_000


class Phase(IntEnum):
    """How far a call has come."""

    BEGUN = 0
    WAITS = 1
    RESERVED = 2
    ENDED = 3


@dataclass(slots=True)
class Call:
    """A call, with its end if the history has it: an answer, an error, or neither."""

    process: str
    value: object
    began_ns: int | None
    answer: object = None
    error: str | None = None
    ended_ns: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody knows how it ends: any end is possible."""
        return self.answer is None and self.error is None


class Event(NamedTuple):
    """The beginning or the end of a call; an end that nobody knows is no event."""

    call: int
    begins: bool
    line: int


class Holding(NamedTuple):
    """A buffer that is lent; one of which no answer tells the name has the number of its call."""

    buffer: str | int
    size: int
    process: str


class State(NamedTuple):
    """A state of the pool, and of the calls that have begun."""

    place: int
    """How many events it explains."""
    free: int
    """The bytes that are neither lent nor reserved."""
    closed: bool
    line: tuple[int, ...]
    calls: tuple[tuple[int, Phase], ...]
    lent: frozenset[Holding]
    returned: frozenset[str]
    """The buffers that were given back at some time."""
    passed_ns: int
    """The time that is over, since a call has been refused for lack of time."""

    def __str__(self) -> str:
        lent = ", ".join(f"{one.buffer} of {one.size} bytes" for one in sorted(self.lent, key=str))
        closed = "the pool is closed, " if self.closed else ""
        return f"{closed}lent: {lent or 'nothing'}; {len(self.line)} in the line"


@dataclass(slots=True)
class Script:
    """The calls of a history, or of a part of it, and their events in order."""

    calls: list[Call]
    events: list[Event]

    @classmethod
    def of(cls, ops: Iterable[HistoryOp[object]]) -> "Script":
        """Return the calls of these lines."""
        calls: list[Call] = []
        events: list[Event] = []
        running: dict[str, int] = {}
        for op in ops:
            time_ns = op.time_ns if isinstance(op.time_ns, int) else None
            if op.type == "invoke":
                running[op.process] = len(calls)
                events.append(Event(len(calls), True, op.index))
                calls.append(Call(op.process, op.value, time_ns))
                continue
            number = running.pop(op.process)
            if op.type == "info":
                continue
            call = calls[number]
            call.ended_ns = time_ns
            if op.type == "ok":
                call.answer = op.value
            else:
                call.error = str(op.error)
            events.append(Event(number, False, op.index))
        return cls(calls, events)


class Pool:
    """The steps of a pool with the calls of a script.

    `relaxed` has clauses that do not bind it: that tells which clause an end without an
    explanation breaks. `slack_ns` says how much two times by its clock may be apart from the truth;
    None if times say nothing.
    """

    def __init__(
        self,
        config: PoolConfig,
        script: Script,
        *,
        barging: bool,
        slack_ns: int | None,
        relaxed: frozenset[PoolClause] = frozenset(),
    ) -> None:
        self._total = config.total_memory
        self._calls: Sequence[Call] = script.calls
        self._events: Sequence[Event] = script.events
        self._in_turn = PoolClause.LONGEST_WAITING_FIRST not in relaxed
        self._barging = barging or not self._in_turn
        self._slack_ns = None if PoolClause.WAIT_IS_BOUNDED in relaxed else slack_ns
        self._wakes = PoolClause.NO_LOST_WAKE_UP not in relaxed
        self._closes = PoolClause.CLOSE_RELEASES not in relaxed
        self._counts = PoolClause.WAITERS_ARE_LIVE not in relaxed
        self._conserves = PoolClause.MEMORY_IS_CONSERVED not in relaxed

    def start(
        self, lent: Iterable[Holding], free: int, returned: Iterable[str], *, closed: bool
    ) -> State:
        """Return the state before the first event, in which no call is under way."""
        return State(0, free, closed, (), (), frozenset(lent), frozenset(returned), 0)

    def is_end(self, state: State) -> bool:
        """Tell whether a state explains all events."""
        return state.place == len(self._events)

    def steps(self, state: State) -> Iterator[State]:
        """Yield the states that may follow.

        An event that can come comes at once: an effect that it does not need can be later. So
        effects come only before the end of a call that has not taken effect, the effects of that
        call last of all, since the search goes on with what is yielded last.
        """
        event = self._events[state.place]
        calls = dict(state.calls)
        if event.begins:
            calls[event.call] = Phase.BEGUN
            yield _moved(state, calls)._replace(place=state.place + 1)
            return
        if calls[event.call] is Phase.ENDED:
            del calls[event.call]
            yield _moved(state, calls)._replace(place=state.place + 1)
            return
        for number, phase in state.calls:
            if number != event.call and phase is not Phase.ENDED:
                yield from self._effects(state, number, phase)
        yield from self._effects(state, event.call, calls[event.call])

    def _effects(self, state: State, number: int, phase: Phase) -> Iterator[State]:
        call = self._calls[number]
        if call.ended_ns is not None and call.ended_ns < state.passed_ns:
            return
        value = call.value
        if isinstance(value, Allocate):
            step = (self._ask, self._wait, self._lend)[phase]
            yield from step(state, number, value)
            return
        ended = _in_phase(state, number, Phase.ENDED)
        if isinstance(value, Deallocate):
            yield from self._give_back(ended, call, value)
        elif call.error is not None:
            yield ended
        elif isinstance(value, Close):
            yield ended._replace(closed=self._closes)
        elif not isinstance(value, AvailableMemory | Queued) or self._sees(state, call.answer):
            yield ended

    def _sees(self, state: State, answer: object) -> bool:
        if isinstance(answer, WaitingThreads):
            return not self._counts or answer.count == len(state.line)
        if not isinstance(answer, Memory) or not self._conserves:
            return True
        gathered = 0
        if state.line:
            first = self._calls[state.line[0]].value
            assert isinstance(first, Allocate)
            gathered = min(state.free, first.size - 1)
        return state.free - gathered <= answer.size <= state.free

    def _ask(self, state: State, number: int, value: Allocate) -> Iterator[State]:
        call = self._calls[number]
        if self._may_leave(state, call, Phase.BEGUN) or not is_in_domain(value, self._total):
            yield _in_phase(state, number, Phase.ENDED)
        if (state.closed and self._closes) or not is_in_domain(value, self._total):
            return
        fits = value.size <= state.free
        if value.size and not (fits and self._wakes and not state.line):
            waiting = _in_phase(state, number, Phase.WAITS)
            yield waiting._replace(line=(*state.line, number))
        if not value.size or (fits and (self._barging or not state.line)):
            reserved = _in_phase(state, number, Phase.RESERVED)
            yield reserved._replace(free=state.free - value.size)

    def _wait(self, state: State, number: int, value: Allocate) -> Iterator[State]:
        call = self._calls[number]
        line = tuple(one for one in state.line if one != number)
        if self._may_leave(state, call, Phase.WAITS):
            left = _in_phase(state, number, Phase.ENDED)._replace(line=line)
            passed_ns = self._passed_ns(call, value) if call.error == EXHAUSTED else 0
            yield left._replace(passed_ns=max(state.passed_ns, passed_ns))
        is_first = state.line[0] == number or not self._in_turn
        if is_first and value.size <= state.free and not (state.closed and self._closes):
            reserved = _in_phase(state, number, Phase.RESERVED)
            yield reserved._replace(line=line, free=state.free - value.size)

    def _may_leave(self, state: State, call: Call, phase: Phase) -> bool:
        """Tell whether an allocation may end without memory now, by the error that it has."""
        if call.is_open:
            return True
        if call.error == CLOSED:
            return state.closed or not self._closes
        if call.error == EXHAUSTED:
            # Whoever has waited on a closed pool is told of that, and not of the time.
            return phase is Phase.WAITS and not (state.closed and self._closes)
        return call.error is not None

    def _passed_ns(self, call: Call, value: Allocate) -> int:
        if self._slack_ns is None or call.began_ns is None:
            return 0
        return call.began_ns + value.max_time_to_block_ms * _NS - self._slack_ns

    def _lend(self, state: State, number: int, value: Allocate) -> Iterator[State]:
        call = self._calls[number]
        ended = _in_phase(state, number, Phase.ENDED)
        undone = call.is_open or (call.error == CLOSED and state.closed)
        if undone or call.error not in (None, CLOSED, EXHAUSTED):
            yield ended._replace(free=state.free + value.size)
        if call.error is not None:
            return
        buffer = call.answer.buffer if isinstance(call.answer, Allocated) else number
        if all(one.buffer != buffer for one in state.lent):
            yield ended._replace(lent=state.lent | {Holding(buffer, value.size, call.process)})

    def _give_back(self, ended: State, call: Call, value: Deallocate) -> Iterator[State]:
        """Yield the states after a return; `ended` is the one in which it has had no effect."""
        named = next((one for one in ended.lent if one.buffer == value.buffer), None)
        if call.error is not None:
            # Somebody else may give back an old loan of a buffer that is lent again.
            is_old = named is not None and named.process != call.process
            is_old = is_old and value.buffer in ended.returned
            if named is None or is_old or value.size not in (named.size, ABSENT):
                yield ended
            return
        if call.is_open:
            yield ended
        mine = (
            [one for one in ended.lent if isinstance(one.buffer, int)] if named is None else [named]
        )
        for one in mine:
            if value.size in (one.size, ABSENT):
                yield ended._replace(
                    lent=ended.lent - {one},
                    free=ended.free + one.size,
                    returned=ended.returned | {value.buffer},
                )


def _in_phase(state: State, number: int, phase: Phase) -> State:
    return _moved(state, dict(state.calls) | {number: phase})


def _moved(state: State, calls: Mapping[int, Phase]) -> State:
    return state._replace(calls=tuple(sorted(calls.items())))
