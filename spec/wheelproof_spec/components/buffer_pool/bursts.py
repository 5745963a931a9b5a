"""The bursts of a driven pool: callers that allocate, give back, interrupt and close.

What is given back was lent before the burst, and who is interrupted waited before it. So a burst
lets a return, a time-out's neighbour and an interruption meet. An allocation that cannot go on has
no answer yet; its caller waits on while others go on to the next burst.
"""

import random
from collections.abc import Iterator

from wheelproof_spec.base.calls import (
    Advance,
    AvailableMemory,
    Close,
    Interrupt,
    Memory,
    Reset,
    Tick,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, INTERRUPTED
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.port import Asked
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolCall,
    PoolCapability,
    PoolClause,
    PoolConfig,
    PoolObservation,
    PoolOutcome,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.components.buffer_pool.history import RECORDED
from wheelproof_spec.components.buffer_pool.history.search import Rest, Script, Searcher
from wheelproof_spec.components.buffer_pool.model import LedgerPool
from wheelproof_spec.components.buffer_pool.work import GiveBack, PoolStep, PoolWork
from wheelproof_spec.drive.work import AdvanceBy, InterruptThread, SeededDraw
from wheelproof_spec.fuzz.overlapping import ALONE, BurstRecord, DrivenBursts, case_of, op_of
from wheelproof_spec.fuzz.threaded_case import Burst, ThreadedCase
from wheelproof_spec.history.linearizability.small_histories import MOST_CONFIGURATIONS

_BURSTS = (2, 6)
_CALLERS = (1, 4)
_MIX = ("allocate",) * 4 + ("deallocate",) * 3
_TIMEOUTS_MS = (1_000, 1_000, 5, 0)
_LONGER_THAN_ANY_WAIT_MS = 2_000
_RARELY = 25
_UNSEEN = ("which bytes are kept buffers", "how much of a call is counted as a wait")
_ERRORS = {
    PoolOutcome.EXHAUSTED: EXHAUSTED,
    PoolOutcome.CLOSED: CLOSED,
    PoolOutcome.INTERRUPTED: INTERRUPTED,
}


def bursts(profile: str, tally: Tally) -> DrivenBursts[PoolCall, PoolObservation]:
    """Return the bursts of a pool, judged by the contract of a profile."""
    work = PoolWork(
        wide=False,
        outside=False,
        negative=False,
        twice=False,
        any_size=not tally.skips(PoolCapability.ANY_SIZE),
        interruption=not tally.skips(PoolCapability.INTERRUPTION),
        closes=not tally.skips(PoolCapability.CLOSE),
        faults=(),
        timeouts_ms=_TIMEOUTS_MS,
    )

    def record(config: Config) -> PoolRecord:
        assert isinstance(config, PoolConfig)
        return PoolRecord(config, profile, tally)

    return DrivenBursts(
        lambda chance: _Drawing(work, chance).case(),
        record,
        refused=PoolClause.KEEPS_TO_ITS_DOMAIN,
        unseen=_UNSEEN,
    )


class _Drawing:
    """Draws one case. Who has a buffer and who waits is guessed: whoever asks first has it."""

    def __init__(self, work: PoolWork, chance: random.Random) -> None:
        self._draw = SeededDraw(chance)
        self._kinds = work.kinds()
        self._config = work.setup(self._draw)
        self._now_ms = self._config.start_ms
        self._allocated = 0
        self._sizes: dict[str, int] = {}
        """What was asked for and has not come back, as far as the bursts before this one."""

    def case(self) -> ThreadedCase[Config, PoolCall]:
        found: list[Burst[PoolCall]] = []
        for _ in range(self._draw.between(*_BURSTS)):
            found.append(self._burst())
            if self._draw.once_in(4):
                step = self._step("advance")
                assert isinstance(step, AdvanceBy)
                self._now_ms += step.jump_ms
                found.append(((Advance(to_ms=self._now_ms),),))
        return case_of(self._config, tuple(found))

    def _burst(self) -> Burst[PoolCall]:
        draw, before = self._draw, dict(self._sizes)
        programs: list[tuple[PoolCall, ...]] = []
        for _ in range(draw.between(*_CALLERS)):
            calls: list[PoolCall] = []
            # An allocation is a caller's last call, since it may wait.
            while len(calls) < 2 and not (calls and isinstance(calls[-1], Allocate)):
                calls.append(self._call(before))
            programs.append(tuple(calls))
        return tuple(programs)

    def _call(self, before: dict[str, int]) -> PoolCall:
        draw, left = self._draw, self._config.total_memory
        if "close" in self._kinds and draw.once_in(_RARELY):
            return Close()
        lent: list[str] = []
        for name, size in before.items():
            left -= size
            if left < 0:
                break
            lent.append(name)
        waiting = list(before)[len(lent) :]
        if waiting and "interrupt" in self._kinds and draw.once_in(3):
            step = self._step("interrupt")
            assert isinstance(step, InterruptThread)
            name = waiting[step.victim % len(waiting)]
            del before[name], self._sizes[name]
            return Interrupt(name=name)
        step = self._step(draw.among(_MIX))
        if isinstance(step, GiveBack) and lent:
            name = lent[step.loan % len(lent)]
            del before[name], self._sizes[name]
            return Deallocate(buffer=name)
        if not isinstance(step, Allocate):
            step = self._step("allocate")
        assert isinstance(step, Allocate)
        self._allocated += 1
        name = f"a{self._allocated}"
        self._sizes[name] = step.size
        size, limit_ms = step.size, step.max_time_to_block_ms
        return Allocate(buffer=name, size=size, max_time_to_block_ms=limit_ms)

    def _step(self, kind: str) -> PoolStep:
        return self._kinds[kind].in_a_burst(self._draw, self._config)


class PoolRecord(BurstRecord[PoolCall, PoolObservation]):
    """One case of a pool. In its history each allocation is a process, named like the call."""

    def __init__(self, config: PoolConfig, profile: str, tally: Tally) -> None:
        """Begin; known limits of `tally` are not judged."""
        super().__init__(RECORDED, config, profile, tally.skipped, None)
        self._pool = LedgerPool(config, profile, Tally(limits=tuple(tally.skipped)))
        late_ms = int(tally.skips(PoolCapability.EXACT_TIME))
        alone = (PoolClause.INTERRUPTION_ENDS_THE_WAIT,)
        self._searcher = Searcher(self.header, late_ms, driven_alone=alone)
        self._searched: list[HistoryOp[object]] = []
        """The history with the moves of the clock and the rests, which no recording has."""
        self._now_ms = config.start_ms
        self._asked_for: set[str] = set()
        self._open: set[str] = set()
        """The allocations that have begun and not ended."""
        self._waiting: set[str] = set()
        """Those of them that waited when no call could go on, and were not interrupted."""
        self._lent: set[str] = set()
        self._sizes: dict[str, int] = {}
        self._wrong: Violation | None = None

    def is_possible(self, call: PoolCall) -> bool:
        """Tell whether a returned buffer is lent, and whether an interrupted thread waits."""
        match call:
            case Allocate(buffer=name):
                new = name not in self._asked_for
                self._asked_for.add(name)
                return new
            case Deallocate(buffer=name):
                if name not in self._lent:
                    return False
                self._lent.remove(name)
                return True
            case Interrupt(name=name):
                if name not in self._waiting:
                    return False
                self._waiting.remove(name)
                return True
            case Advance(to_ms=to_ms):
                return to_ms >= self._now_ms
            case Close():
                return True
            case Reset():
                return False

    def may_wait(self, call: PoolCall) -> bool:
        """Tell whether a call is an allocation."""
        return isinstance(call, Allocate)

    def require(self, call: PoolCall, seen: PoolObservation) -> None:
        """Require that the answer to an allocation tells of its own end, and no other of any."""
        expected = {call.buffer} if isinstance(call, Allocate) else set[str]()
        if set(seen.ended) != expected:
            told, due = sorted(seen.ended), sorted(expected)
            raise MalformedError(f"has 'ended' with the calls {told} where {due} are due")

    def begins(self, asked: Asked[PoolCall]) -> None:
        """Record that a call may begin."""
        call = asked.call
        match call:
            case Allocate(buffer=name):
                self._both(name, call)
                self._open.add(name)
            case Advance(to_ms=to_ms):
                self._now_ms = to_ms
                self._alone(Tick(to_ms=to_ms), Nothing())
            case Deallocate(buffer=name):
                self._both(asked.caller, Deallocate(buffer=name, size=self._sizes[name]))
            case Interrupt() | Close():
                self._both(asked.caller, call)
            case Reset():
                raise AssertionError(call)

    def ends(self, asked: Asked[PoolCall], seen: PoolObservation) -> None:
        """Record that a call has ended."""
        call = asked.call
        if not isinstance(call, Allocate):
            assert not isinstance(call, Reset | Advance)
            self._both(asked.caller, call, answer=Nothing())
            return
        name, outcome = call.buffer, seen.ended[call.buffer]
        self._open.remove(name)
        if outcome is PoolOutcome.BUFFER:
            self._lent.add(name)
            self._sizes[name] = call.size
            self._both(name, call, answer=Allocated(buffer=name, size=call.size))
        elif outcome in _ERRORS:
            self._both(name, call, answer=Nothing(), error=_ERRORS[outcome])
        else:
            self._wrong = PoolClause.ENDS_FOR_A_REASON.broken(
                f"{name!r} does not end by {outcome}",
                f"{name!r} ended: {outcome}",
                "nothing fails in a burst",
            )

    def rest(self) -> PoolCall:
        """Return an advance to what the clock shows: its answer has the gauges."""
        return Advance(to_ms=self._now_ms)

    def rests(self, call: PoolCall, seen: PoolObservation) -> None:
        """Record that no call can go on, and what the gauges show."""
        del call
        self._waiting = set(self._open)
        self._alone(Rest(), Nothing())
        if seen.available_memory is not None:
            self._look(AvailableMemory(), Memory(size=seen.available_memory))
        if seen.queued is not None:
            self._look(Queued(), WaitingThreads(count=seen.queued))

    def last(self) -> Iterator[Burst[PoolCall]]:
        """Let all time be over, and give everything back."""
        yield ((Advance(to_ms=self._now_ms + _LONGER_THAN_ANY_WAIT_MS),),)
        if self._lent:
            yield tuple((Deallocate(buffer=name),) for name in sorted(self._lent))

    def judge(self, *, over: bool) -> Violation | None:
        """Return the violation by the judge of recordings, or by the search for a linearization."""
        wrong = self._wrong or super().judge(over=over)
        if wrong is not None:
            return wrong
        script = Script.of(self._searched)
        found, _ = self._searcher.searched(script, self._pool.copy(), MOST_CONFIGURATIONS)
        self.undecided = self.undecided or found.verdict is Verdict.INCONCLUSIVE
        return found.violation

    def _look(self, what: Call, answer: object) -> None:
        self._both(ALONE, what)
        self._both(ALONE, what, answer=answer)

    def _both(
        self, process: str, what: Call, *, answer: object = None, error: str | None = None
    ) -> None:
        """Write to the history of the judge, and to the one that is searched."""
        self.write(process, what, answer=answer, error=error)
        self._search(process, what, answer=answer, error=error)

    def _alone(self, what: Call, answer: object) -> None:
        self._search(ALONE, what)
        self._search(ALONE, what, answer=answer)

    def _search(
        self, process: str, what: Call, *, answer: object = None, error: str | None = None
    ) -> None:
        self._searched.append(op_of(len(self._searched), process, what, answer=answer, error=error))
