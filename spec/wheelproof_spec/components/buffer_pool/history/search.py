"""The search for an order of the effects of a pool's calls that explains all answers.

The judge keeps bounds, and so does not see what several answers exclude together. A small history
is searched, and so is each small part of a longer one between two moments without a call.
"""

from dataclasses import dataclass

from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
)
from wheelproof_spec.components.buffer_pool.history.states import Call, Holding, Pool, Script, State
from wheelproof_spec.history.orders import MOST_CONFIGURATIONS

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is known of a pool before the first event, when no call is under way."""

    lent: tuple[Holding, ...] = ()
    free: int
    returned: frozenset[str] = frozenset()
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Whether some order explains a script, and the configurations that the search visited."""

    verdict: Verdict
    last: State
    """The state that explains the most events."""
    visited: int


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
    config = history.header.config
    assert isinstance(config, PoolConfig)
    script = Script.of(history.ops)
    start = Start(free=config.total_memory)
    searcher = Searcher(history.header, history.profile)
    return searcher.searched(script, start, MOST_CONFIGURATIONS)[0]


class Searcher:
    """Searches scripts of the histories with one header."""

    def __init__(self, header: HistoryHeader[object], profile: str) -> None:
        assert isinstance(header.config, PoolConfig)
        self._config = header.config
        self._barging = profile == KAFKA
        coarse_ns = header.clock_resolution_ns
        coarse_ns = coarse_ns if isinstance(coarse_ns, int) else _RESOLUTION_NS
        has_clock = header.clock == "monotonic_ns"
        self._slack_ns = _TRUNCATED_NS + 2 * coarse_ns if has_clock else None

    def searched(self, script: Script, start: Start, most: int) -> tuple[Searched, int]:
        """Search; return what was found, and how many configurations were visited."""
        found = self._explained(script, start, most, frozenset())
        if found.verdict is not Verdict.FAIL:
            return Searched(verdict=found.verdict), found.visited
        event = script.events[found.last.place]
        clause = self._clause(script, start, found.last.place)
        violation = Violation(
            rule=clause,
            expected="some order of the effects explains every answer",
            observed=f"no order explains event {event.line}",
            reason=f"the events before it allow one; for example, there: {found.last}",
        )
        failed = Searched(verdict=Verdict.FAIL, violation=violation, index=event.line)
        return failed, found.visited

    def _clause(self, script: Script, start: Start, place: int) -> PoolClause:
        """Return the clause that is broken by the event at `place`."""
        known = Script(script.calls, script.events[: place + 1])
        for clause in _RELAXED:
            found = self._explained(known, start, MOST_CONFIGURATIONS, frozenset({clause}))
            if found.verdict is Verdict.PASS:
                return clause
        return _clause_of(script.calls[script.events[place].call])

    def _explained(
        self, script: Script, start: Start, most: int, relaxed: frozenset[PoolClause]
    ) -> Explained:
        pool = Pool(
            self._config,
            script,
            barging=self._barging,
            slack_ns=self._slack_ns,
            relaxed=relaxed,
        )
        first = pool.start(start.lent, start.free, start.returned, closed=start.closed)
        return _walked(pool, first, most)


def _walked(pool: Pool, first: State, most: int) -> Explained:
    """Go through the states until one explains all events, or `most` have been visited."""
    last, seen, stack = first, {first}, [first]
    while stack:
        state = stack.pop()
        if state.place > last.place:
            last = state
        if pool.is_end(state):
            return Explained(verdict=Verdict.PASS, last=state, visited=len(seen))
        if len(seen) > most:
            return Explained(verdict=Verdict.INCONCLUSIVE, last=last, visited=len(seen))
        for following in pool.steps(state):
            if following not in seen:
                seen.add(following)
                stack.append(following)
    return Explained(verdict=Verdict.FAIL, last=last, visited=len(seen))


def _clause_of(call: Call) -> PoolClause:
    if isinstance(call.value, Deallocate):
        refused = call.error is not None
        return PoolClause.TAKES_BACK_WHAT_IT_LENT if refused else PoolClause.TAKES_BACK_ONLY_LOANS
    if isinstance(call.answer, Allocated):
        return PoolClause.NO_MORE_THAN_TOTAL
    return PoolClause.ENDS_FOR_A_REASON
