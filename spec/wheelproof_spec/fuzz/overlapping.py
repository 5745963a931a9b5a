"""Bursts of calls that a driver makes at the same time, recorded and judged like every history.

A call lasts from when it was sent, or from the answer to its caller's last call, to its answer.
Behind each burst comes a request without a caller, which is answered when no call can go on.
Threads are not deterministic: a case that has failed is run several times, and the report says how
often it failed.
"""

import itertools
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar, cast

from wheelproof_spec.base.calls import Advance, Reset, Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT, Implementation, Nothing
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.base.history.judging import LinearizationSearch, RecordedComponent
from wheelproof_spec.base.history.lines import HISTORY, HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.port import Asked, BurstPort, RefusedError, unexpected_refusal
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.shrinking import within
from wheelproof_spec.base.suite import BurstFailure, BurstReport, FuzzPlan
from wheelproof_spec.drive.driver.messages import request_line
from wheelproof_spec.drive.driver.port import CalledRequest
from wheelproof_spec.drive.driver.process import DriverFailedError
from wheelproof_spec.fuzz.threaded_case import Burst, ThreadedCase, shrink
from wheelproof_spec.history.linearizability.small_histories import GAVE_UP
from wheelproof_spec.history.run import HistoryChecker

REPEATS = 20
"""How often the smallest case, or one that is repeated, is run."""
MOST_RUNS = 600
"""The most runs that shrinking makes before it returns the smallest case so far."""

_ATTEMPTS = 4
"""How often a smaller case is tried: each run is a conversation with another program."""
_HISTORY = "bursts"
_CLOCK = "-clock"
ALONE = "alone"
"""Who makes the calls without a caller."""

CallT = TypeVar("CallT", bound=Call)
SeenT = TypeVar("SeenT")


class BurstRecord(ABC, Generic[CallT, SeenT]):
    """One case, as it is sent: which calls make sense, and the history of what happened."""

    def __init__(
        self,
        component: RecordedComponent,
        config: Config,
        profile: str,
        skip: Collection[str],
        search: LinearizationSearch | None,
    ) -> None:
        """Begin; the clauses of `skip` are not judged. `search` searches a small history."""
        self.header: HistoryHeader[object] = HistoryHeader(
            schema=HISTORY,
            kind="header",
            history=_HISTORY,
            component=component.definition.name,
            impl=Implementation(name="driver", version=""),
            config=config,
            clock="virtual",
        )
        self._checker = HistoryChecker(self.header, component, profile, skip, search)
        self._ops = 0
        self.undecided = False
        """Whether the search for a linearization gave up."""

    # What a component says of its calls

    @abstractmethod
    def is_possible(self, call: CallT) -> bool:
        """Tell whether a call makes sense now; if so, it is sent in this burst."""

    def may_wait(self, call: CallT) -> bool:
        """Tell whether `call` may be without an answer when no call can go on; here, none may."""
        del call
        return False

    def require(self, call: CallT, seen: SeenT) -> None:
        """Raise MalformedError for an answer that says too little, or more; see `BurstRules`.

        Here, an answer may say anything.
        """

    @abstractmethod
    def begins(self, asked: Asked[CallT]) -> None:
        """Record that a call may begin."""

    @abstractmethod
    def ends(self, asked: Asked[CallT], seen: SeenT) -> None:
        """Record that a call has ended."""

    @abstractmethod
    def rest(self) -> CallT:
        """Return the call behind a burst, which changes nothing."""

    @abstractmethod
    def rests(self, call: CallT, seen: SeenT) -> None:
        """Record that no call can go on, and what the answer to `call`, without a caller, says."""

    @abstractmethod
    def last(self) -> Iterator[Burst[CallT]]:
        """Yield the bursts that end a case: each depends on the answers to the one before."""

    # The history

    def write(
        self, process: str, what: Call, *, answer: object = None, error: str | None = None
    ) -> None:
        """Write the beginning of a call; with an answer or an error its end."""
        self._checker.feed(op_of(self._ops, process, what, answer=answer, error=error))
        self._ops += 1

    def clock_begins(self, caller: str, to_ms: int) -> None:
        """Write that the clock moves at some time of a call; at once if nobody else calls."""
        self.write(caller + _CLOCK, Tick(to_ms=to_ms))
        if caller == ALONE:
            self.clock_ends(caller, to_ms)

    def clock_ends(self, caller: str, to_ms: int) -> None:
        """Write that the clock has moved by now."""
        self.write(caller + _CLOCK, Tick(to_ms=to_ms), answer=Nothing())

    def judge(self, *, over: bool) -> Violation | None:
        """Return the violation of the history so far, if any; `over` says that it has its end."""
        if over:
            quiet = not self._checker.under_way
            self._checker.feed(HistoryEnd(kind="end", history=_HISTORY, ops=self._ops, quiet=quiet))
            self.undecided = self.undecided or GAVE_UP in self._checker.finish().notes
        return self._checker.violation


def op_of(
    index: int, process: str, what: Call, *, answer: object = None, error: str | None = None
) -> HistoryOp[object]:
    """Return the line of a history for the beginning of a call, or for its answer or its error."""
    return HistoryOp(
        kind="op",
        history=_HISTORY,
        index=index,
        process=process,
        type="fail" if error is not None else "invoke" if answer is None else "ok",
        f=what.name_on_the_wire(),
        value=what if answer is None else answer,
        error=ABSENT if error is None else error,
    )


class DrivenBursts(Generic[CallT, SeenT]):
    """The bursts of a component, and how they are sent; see `BurstCases`."""

    def __init__(
        self,
        draw: Callable[[random.Random], ThreadedCase[Config, CallT]],
        record: Callable[[Config], BurstRecord[CallT, SeenT]],
        *,
        refused: str,
        unseen: tuple[str, ...],
    ) -> None:
        """Draw cases by `draw`; `record` begins the record of one.

        `refused` is the clause that a refusal breaks, since all calls are within the domain.
        `unseen` is what is not judged.
        """
        self._draw = draw
        self._record = record
        self._refused = refused
        self._report = BurstReport(unseen=unseen)
        self._lines: list[str] = []

    @property
    def lines(self) -> tuple[str, ...]:
        """The requests of the case that was sent last."""
        return tuple(self._lines)

    def run(self, port: BurstPort[CallT, SeenT], plan: FuzzPlan) -> BurstReport:
        """Send random bursts; see `BurstCases.run`."""
        for seed in range(plan.seed, plan.seed + plan.cases):
            case = self._draw(random.Random(seed))
            violation = self._run(port, case, counts=True)
            known = {failure.violation.rule for failure in self._report.failures}
            if violation is not None and violation.rule not in known:
                self._shrink(port, case, violation, plan.shrink_seconds)
                if not plan.shrink_seconds:
                    break
        return self._report

    def repeat(self, port: BurstPort[CallT, SeenT], case: Sequence[Asked[CallT]]) -> BurstReport:
        """Send a case again and again; see `BurstCases.repeat`."""
        reset, *asked = case
        setup = cast("Reset[Config]", reset.call).config
        again = self._again(
            case_of(setup, tuple(_bursts(asked))), lambda one: self._run(port, one, counts=True)
        )
        if again:
            self._fail(*again[0], len(again), REPEATS)
        return self._report

    def _shrink(
        self,
        port: BurstPort[CallT, SeenT],
        case: ThreadedCase[Config, CallT],
        violation: Violation,
        seconds: float,
    ) -> None:
        """Look for a smaller case that breaks the same clause, and count how often that fails."""

        def run(tried: ThreadedCase[Config, CallT]) -> Violation | None:
            with suppress(DriverFailedError):
                found = self._run(port, tried, counts=False)
                return found if found is not None and found.rule == violation.rule else None
            return None

        lines, failed, runs = self.lines, 1, 1
        if seconds:
            smallest, found = shrink(case, run, within(MOST_RUNS, seconds), _ATTEMPTS)
            again = [] if found is None else self._again(smallest, run)
            if again:
                (violation, lines), failed, runs = again[0], len(again), REPEATS
        self._fail(violation, lines, failed, runs)

    def _again(
        self,
        case: ThreadedCase[Config, CallT],
        run: Callable[[ThreadedCase[Config, CallT]], Violation | None],
    ) -> list[tuple[Violation, tuple[str, ...]]]:
        """Run a case REPEATS times, and return the violation and the lines of those that failed."""
        failed: list[tuple[Violation, tuple[str, ...]]] = []
        with suppress(DriverFailedError):
            for _ in range(REPEATS):
                violation = run(case)
                if violation is not None:
                    failed.append((violation, self.lines))
        return failed

    def _fail(self, violation: Violation, lines: tuple[str, ...], failed: int, runs: int) -> None:
        failure = BurstFailure(violation=violation, lines=lines, failed=failed, runs=runs)
        self._report = replace(self._report, failures=(*self._report.failures, failure))

    def _run(
        self, port: BurstPort[CallT, SeenT], case: ThreadedCase[Config, CallT], *, counts: bool
    ) -> Violation | None:
        """Run a case from its reset to its end, and return its violation, if any."""
        record = self._record(case.setup)
        one = _OneCase(port, record, self._refused)
        self._lines = one.lines
        violation = one.run(case)
        if counts:
            report = self._report
            self._report = replace(
                report,
                cases=report.cases + 1,
                bursts=report.bursts + one.bursts,
                calls=report.calls + one.calls,
                undecided=report.undecided + record.undecided,
            )
        return violation


class _OneCase(Generic[CallT, SeenT]):
    """One case that is sent, burst by burst."""

    def __init__(
        self, port: BurstPort[CallT, SeenT], record: BurstRecord[CallT, SeenT], refused: str
    ) -> None:
        self._port = port
        self._record = record
        self._refused = refused
        self._queues: dict[str, deque[Asked[CallT]]] = {}
        """The calls of each caller without an answer; only the first of them is under way."""
        self.lines: list[str] = []
        self.bursts = 0
        """The bursts in which callers have met, and their calls."""
        self.calls = 0

    def run(self, case: ThreadedCase[Config, CallT]) -> Violation | None:
        """Make the bursts of a case, and end it; return the first violation."""
        reset: Asked[CallT] = Asked(cast(CallT, Reset(config=case.setup)))
        violation = self._exchange((), reset)
        bursts = itertools.chain(case.bursts, self._record.last())
        while violation is None and (burst := next(bursts, None)) is not None:
            violation = self._make(burst) or self._record.judge(over=False)
        violation = violation or self._record.judge(over=True)
        if any(self._queues.values()):
            # Nothing of this case is answered in the middle of what comes next.
            self._port.burst((), reset, self._record)
        return violation

    def _make(self, burst: Burst[CallT]) -> Violation | None:
        """Send one burst, with those of its calls that make sense now, and record the answers."""
        alone = burst[0][0] if len(burst) == len(burst[0]) == 1 else None
        if isinstance(alone, Advance):
            if not self._record.is_possible(alone):
                return None
            asked: Asked[CallT] = Asked(alone)
            self._record.begins(asked)
            return self._exchange((), asked)
        callers = (f"c{n}" for n in itertools.count() if not self._queues.get(f"c{n}"))
        turns = sorted(
            (place, number, Asked(call, caller))
            for number, (program, caller) in enumerate(zip(burst, callers, strict=False))
            for place, call in enumerate(program)
        )
        sent = [one for _, _, one in turns if self._record.is_possible(one.call)]
        if not sent:
            return None
        if len({one.caller for one in sent}) > 1:
            self.bursts += 1
            self.calls += len(sent)
        for one in sent:
            queue = self._queues.setdefault(one.caller, deque())
            queue.append(one)
            if len(queue) == 1:
                self._record.begins(one)
        return self._exchange(sent, Asked(self._record.rest()))

    def _exchange(self, sent: Sequence[Asked[CallT]], rest: Asked[CallT]) -> Violation | None:
        for one in (*sent, rest):
            request = CalledRequest(one.call, one.caller)
            self.lines.append(request_line(len(self.lines) + 1, request))
        for one, outcome in self._port.burst(sent, rest, self._record):
            if isinstance(outcome, RefusedError):
                return unexpected_refusal(self._refused, one.call, outcome)
            if one is rest:
                self._record.rests(one.call, outcome)
                continue
            queue = self._queues[one.caller]
            queue.popleft()
            self._record.ends(one, outcome)
            if queue:
                self._record.begins(queue[0])
        return None


def case_of(setup: Config, bursts: tuple[Burst[CallT], ...]) -> ThreadedCase[Config, CallT]:
    """Return a case; nothing preempts the threads of a driver."""
    return ThreadedCase(setup=setup, preemption_seed=0, preempt_one_in=1, bursts=bursts)


def _bursts(asked: Sequence[Asked[CallT]]) -> Iterator[Burst[CallT]]:
    """Yield the bursts of a case that was written down; a call that only waits is left out."""
    for is_called, together in itertools.groupby(asked, lambda one: bool(one.caller)):
        if is_called:
            programs: dict[str, list[CallT]] = {}
            for one in together:
                programs.setdefault(one.caller, []).append(one.call)
            yield tuple(tuple(program) for program in programs.values())
        else:
            yield from (((one.call,),) for one in together if isinstance(one.call, Advance))
