"""The search for a linearization of a pool's calls: an order of effects that explains all answers.

The judge keeps bounds, and so does not see what several answers exclude together. A small history
is searched, and so is each small part of a longer one between two moments without a call.

A call of a pool takes effect in steps (standard 3): an allocation is refused, or reserves its
memory, or joins the line and is served when it is first; what it has reserved is lent when the
call ends, or goes back. What the steps mean, and when they are wrong, says `LedgerPool`. A history
does not show them. So all orders of them are tried that fit the order of the events, and the
answers, which are known beforehand.

Not searched, so that nothing right is ever excluded: which bytes are kept buffers; how much the
first of the line has gathered, which may be any part; when a thread takes note of an interruption.

The calls that a driver makes at the same time are searched as well. There the clock is virtual, and
`Tick` moves it; and where no call can go on, there is a `Rest`: whoever waits then has a reason to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from wheelproof_spec.base.calls import AvailableMemory, Close, Interrupt, Memory, Tick
from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.component import Call as AnyCall
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryHeader, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    PoolOutcome,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.components.buffer_pool.ledger import Request
from wheelproof_spec.components.buffer_pool.model import LedgerPool, can_ever_lend
from wheelproof_spec.history.linearizability.small_histories import MOST_CONFIGURATIONS

_NS = 1_000_000
_TRUNCATED_NS = 1_000_000
"""A pool's own clock has whole milliseconds."""
_RESOLUTION_NS = 1_000_000
"""The resolution of a clock whose header has none."""

_RELAXED = (
    PoolClause.WAIT_IS_BOUNDED,
    PoolClause.LONGEST_WAITING_FIRST,
    PoolClause.WAITERS_ARE_LIVE,
    PoolClause.MEMORY_IS_CONSERVED,
    PoolClause.CLOSE_RELEASES,
    PoolClause.NO_LOST_WAKE_UP,
)
"""The clauses whose absence may explain what has no explanation: the first that does is broken."""

_OUTCOMES = {CLOSED: PoolOutcome.CLOSED, EXHAUSTED: PoolOutcome.EXHAUSTED}
"""The errors that need a reason in the pool; the reason of any other may come at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest(AnyCall):
    """No call of a driven case can go on; it is in no recording."""


class Phase(IntEnum):
    """How far a call has come."""

    BEGUN = 0
    WAITS = 1
    RESERVED = 2
    ENDED = 3


@dataclass(slots=True)
class Call:
    """A call, with its end if the history has it: an answer, an error, or neither."""

    name: str
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
                calls.append(Call(str(len(calls)), op.process, op.value, time_ns))
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


class _State(NamedTuple):
    """The pool, and the calls that have begun, when the first `place` events are explained."""

    place: int
    calls: tuple[tuple[int, Phase], ...]
    passed_ns: int
    """The time that is over, since a call has been refused for lack of time."""
    pool: LedgerPool

    def key(self) -> tuple[object, ...]:
        return self.place, self.calls, self.passed_ns, self.pool.key()

    def at(self, number: int, phase: Phase, pool: LedgerPool) -> "_State":
        """Return the state after an effect of a call."""
        calls = tuple([(one, phase if one == number else now) for one, now in self.calls])
        return _State(self.place, calls, self.passed_ns, pool)


class _Steps:
    """The steps of a pool with the calls of a script.

    `slack_ns` says how much two times by its clock may be apart from the truth; None if times say
    nothing. `late_ms` says how late a wait may end in a driven case; None in a recording.
    """

    def __init__(
        self, script: Script, total: int, slack_ns: int | None, late_ms: int | None
    ) -> None:
        self._calls = script.calls
        self._events = script.events
        self._total = total
        self._slack_ns = slack_ns
        self._late_ms = late_ms

    def is_end(self, state: _State) -> bool:
        """Tell whether a state explains all events."""
        return state.place == len(self._events)

    def after(self, state: _State) -> Iterator[_State]:
        """Yield the states that may follow.

        An event that can come comes at once: an effect that it does not need can be later. So
        effects come only before the end of a call that has not taken effect, the effects of that
        call last of all, since the search goes on with what is yielded last.
        """
        event, calls = self._events[state.place], state.calls
        if event.begins:
            yield state._replace(place=state.place + 1, calls=(*calls, (event.call, Phase.BEGUN)))
            return
        ending = next(phase for number, phase in calls if number == event.call)
        if ending is Phase.ENDED:
            left = tuple([one for one in calls if one[0] != event.call])
            yield state._replace(place=state.place + 1, calls=left)
            return
        for number, phase in calls:
            if number != event.call and phase is not Phase.ENDED:
                yield from self._effects(state, number, phase)
        yield from self._effects(state, event.call, ending)

    def _effects(self, state: _State, number: int, phase: Phase) -> Iterator[_State]:
        call = self._calls[number]
        if call.ended_ns is not None and call.ended_ns < state.passed_ns:
            return
        if isinstance(call.value, Allocate):
            step = (self._ask, self._wait, self._lend)[phase]
            yield from step(state, number, call, call.value)
            return
        # Where no call can go on, what has ended has been answered, and all others wait.
        others = (phase for one, phase in state.calls if one != number)
        if isinstance(call.value, Rest) and any(phase is not Phase.WAITS for phase in others):
            return
        for pool in self._interrupted(state, call) or _made(state.pool, call):
            yield state.at(number, Phase.ENDED, pool)

    def _interrupted(self, state: _State, call: Call) -> list[LedgerPool]:
        """Return the pool after an interruption in a driven case, where it ends the wait."""
        if self._late_ms is None or not isinstance(call.value, Interrupt):
            return []
        pool = state.pool.copy()
        for one, _ in state.calls:
            if self._calls[one].process == call.value.name:
                pool.interrupt(self._calls[one].name)
        return [pool]

    def _request(self, pool: LedgerPool, value: Allocate) -> Request:
        if self._late_ms is None:
            return Request(value.size)
        deadline_ms = pool.now_ms + value.max_time_to_block_ms
        late_ms = self._late_ms if value.max_time_to_block_ms else 0
        return Request(value.size, deadline_ms=deadline_ms, latest_ms=deadline_ms + late_ms)

    def _ask(self, state: _State, number: int, call: Call, value: Allocate) -> Iterator[_State]:
        if not can_ever_lend(self._total, value.size, value.max_time_to_block_ms):
            yield state.at(number, Phase.ENDED, state.pool)
            return
        pool = state.pool.copy()
        pool.ask(call.name, self._request(pool, value))
        # Whoever waits no time has been in the line as well.
        if call.error != EXHAUSTED and _may_leave(pool, call):
            yield state.at(number, Phase.ENDED, state.pool)
        waiting = pool.copy()
        if waiting.enqueue(call.name) is None:
            yield state.at(number, Phase.WAITS, waiting)
        if _reserves(pool, call):
            yield state.at(number, Phase.RESERVED, pool)

    def _wait(self, state: _State, number: int, call: Call, value: Allocate) -> Iterator[_State]:
        if _may_leave(state.pool, call):
            pool = state.pool.copy()
            pool.leave(call.name)
            passed_ns = self._passed_ns(call, value) if call.error == EXHAUSTED else 0
            left = state.at(number, Phase.ENDED, pool)
            yield left._replace(passed_ns=max(state.passed_ns, passed_ns))
        pool = state.pool.copy()
        if _reserves(pool, call):
            yield state.at(number, Phase.RESERVED, pool)

    def _passed_ns(self, call: Call, value: Allocate) -> int:
        if self._slack_ns is None or call.began_ns is None:
            return 0
        return call.began_ns + value.max_time_to_block_ms * _NS - self._slack_ns

    def _lend(self, state: _State, number: int, call: Call, value: Allocate) -> Iterator[_State]:
        del value
        undone = call.is_open or (call.error == CLOSED and state.pool.closed)
        if undone or call.error not in (None, CLOSED, EXHAUSTED):
            pool = state.pool.copy()
            pool.leave(call.name)
            yield state.at(number, Phase.ENDED, pool)
        if call.error is not None:
            return
        pool = state.pool.copy()
        if not isinstance(call.answer, Allocated):
            pool.lend_nameless(call.name)
            yield state.at(number, Phase.ENDED, pool)
        elif call.answer.buffer not in pool.lent:
            # Only recorded buffers have names of their own, so the pool does not guard that.
            pool.lend(call.name, call.answer.buffer, call.process)
            yield state.at(number, Phase.ENDED, pool)


def _may_leave(pool: LedgerPool, call: Call) -> bool:
    """Tell whether an allocation may end without memory now, by the error that it has."""
    if call.error is None:
        return call.is_open
    outcome = _OUTCOMES.get(call.error)
    return outcome is None or pool.forbids_end(call.name, outcome) is None


def _reserves(pool: LedgerPool, call: Call) -> bool:
    """Let an allocation reserve its memory, and tell whether it may."""
    if pool.forbids_end(call.name, PoolOutcome.BUFFER) is not None:
        return False
    return pool.reserve(call.name) is None


def _made(pool: LedgerPool, call: Call) -> Iterator[LedgerPool]:
    """Yield the pools after a call that has one effect."""
    value, answer = call.value, call.answer
    wrong: Violation | None = None
    match value:
        case Deallocate():
            yield from _given_back(pool, call, value)
            return
        case Close() if call.error is None:
            pool = pool.copy()
            pool.close()
        case AvailableMemory() if isinstance(answer, Memory):
            wrong = pool.judge_memory(answer.size, None)
        case Queued() if isinstance(answer, WaitingThreads):
            wrong = pool.judge_queued(answer.count)
        case Tick(to_ms=to_ms):
            pool = pool.copy()
            pool.move_clock(to_ms)
        case Rest() if not pool.may_rest():
            return
        case _:
            pass
    if wrong is None:
        yield pool


def _given_back(pool: LedgerPool, call: Call, value: Deallocate) -> Iterator[LedgerPool]:
    buffer, size = value.buffer, None if isinstance(value.size, Absent) else value.size
    if call.error is not None:
        if pool.may_refuse(buffer, size, call.process):
            yield pool
        return
    if call.is_open:
        yield pool
    nameless = set(pool.nameless) if buffer not in pool.lent else {None}
    for one in sorted(nameless, key=str):
        after = pool.copy()
        if one is not None:
            after.name(one, buffer)
        if after.give_back(buffer, size):
            yield after


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    """Whether some order explains a script, and how many states the search has visited."""

    verdict: Verdict
    last: _State
    """The state that explains the most events."""
    visited: int


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
    config = history.header.config
    assert isinstance(config, PoolConfig)
    pool = LedgerPool(config, history.profile)
    searcher = Searcher(history.header)
    return searcher.searched(Script.of(history.ops), pool, MOST_CONFIGURATIONS)[0]


class Searcher:
    """Searches scripts of the histories with one header."""

    def __init__(
        self,
        header: HistoryHeader[object],
        late_ms: int | None = None,
        driven_alone: tuple[PoolClause, ...] = (),
    ) -> None:
        """Search recordings; with `late_ms` driven cases, in which waits end by so much late.

        `driven_alone` are the clauses that only driven cases break.
        """
        assert isinstance(header.config, PoolConfig)
        self._late_ms = late_ms
        self._relaxed = (*_RELAXED, *driven_alone)
        self._total = header.config.total_memory
        coarse_ns = header.clock_resolution_ns
        coarse_ns = coarse_ns if isinstance(coarse_ns, int) else _RESOLUTION_NS
        has_clock = header.clock == "monotonic_ns"
        self._slack_ns = _TRUNCATED_NS + 2 * coarse_ns if has_clock else None

    def searched(self, script: Script, pool: LedgerPool, most: int) -> tuple[Searched, int]:
        """Search from the state of `pool`, in which no call is under way.

        Return what was found, and how many states were visited, at most `most` and a few more.
        """
        found = self._explained(script, pool, most)
        if found.verdict is not Verdict.FAIL:
            return Searched(verdict=found.verdict), found.visited
        event = script.events[found.last.place]
        violation = Violation(
            rule=self._clause(script, pool, found.last.place),
            expected="some order of the effects explains every answer",
            observed=f"no order explains event {event.line}",
            reason=f"the events before it allow one; for example, there: {found.last.pool}",
        )
        failed = Searched(verdict=Verdict.FAIL, violation=violation, index=event.line)
        return failed, found.visited

    def _clause(self, script: Script, pool: LedgerPool, place: int) -> PoolClause:
        """Return the clause that is broken by the event at `place`."""
        known = Script(script.calls, script.events[: place + 1])
        for clause in self._relaxed:
            relaxed = pool.copy(Tally(limits=(clause,)))
            found = self._explained(known, relaxed, MOST_CONFIGURATIONS, clause)
            if found.verdict is Verdict.PASS:
                return clause
        return _clause_of(script.calls[script.events[place].call])

    def _explained(
        self, script: Script, pool: LedgerPool, most: int, relaxed: PoolClause | None = None
    ) -> _Explained:
        """Go through the states until one explains all events, or `most` have been visited."""
        slack_ns = None if relaxed is PoolClause.WAIT_IS_BOUNDED else self._slack_ns
        steps = _Steps(script, self._total, slack_ns, self._late_ms)
        last = _State(0, (), 0, pool)
        seen, stack = {last.key()}, [last]
        while stack:
            state = stack.pop()
            if state.place > last.place:
                last = state
            if steps.is_end(state):
                return _Explained(verdict=Verdict.PASS, last=state, visited=len(seen))
            if len(seen) > most:
                return _Explained(verdict=Verdict.INCONCLUSIVE, last=last, visited=len(seen))
            for following in steps.after(state):
                key = following.key()
                if key not in seen:
                    seen.add(key)
                    stack.append(following)
        return _Explained(verdict=Verdict.FAIL, last=last, visited=len(seen))


def _clause_of(call: Call) -> PoolClause:
    if isinstance(call.value, Deallocate):
        refused = call.error is not None
        return PoolClause.TAKES_BACK_WHAT_IT_LENT if refused else PoolClause.TAKES_BACK_ONLY_LOANS
    if isinstance(call.value, Rest):
        return PoolClause.NO_LOST_WAKE_UP
    if isinstance(call.answer, Allocated):
        return PoolClause.NO_MORE_THAN_TOTAL
    return PoolClause.ENDS_FOR_A_REASON
