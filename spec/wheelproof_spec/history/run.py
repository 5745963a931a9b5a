"""Judges one history of any component, line by line."""

from collections.abc import Callable, Collection, Iterable, Mapping

from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.history.judging import (
    HistoryJudge,
    LinearizationSearch,
    RecordedComponent,
    WholeHistory,
)
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.results.run_verdict import Broken, Place, RunVerdict
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.history.linearizability.small_histories import GAVE_UP, MOST_EVENTS
from wheelproof_spec.history.routing import Body
from wheelproof_spec.history.unordered import UnorderedHistoryJudge

NO_CALL_CRASHES = "History.NoCallCrashes"
EVERY_CALL_RETURNS = "History.EveryCallReturns"

CRASHED = "Crashed"
"""The error of a call that raised an error no call may raise: a defect in the code."""

MOST_PROCESSES = 100_000
_KAFKA = "kafka"


class HistoryChecker:
    """The checker that a history is well-formed; it passes each event to the judge."""

    def __init__(
        self,
        header: HistoryHeader[object],
        component: RecordedComponent,
        profile: str | None = None,
        skip: Collection[str] = (),
        search: LinearizationSearch | None = None,
    ) -> None:
        """Begin with the header; `profile` replaces its profile, if the component has that one.

        A file can have histories of several components, whose profiles differ. The clauses of
        `skip` are not judged. If the judge finds nothing in a small history, `search` searches it
        as well. Raises MalformedError if the profile that the header names is unknown.
        """
        definition = component.definition
        self._header = header
        named = _profile_of(header, definition.profiles)
        self._profile = named if profile is None or not definition.has_profile(profile) else profile
        if not definition.has_profile(self._profile):
            known = " and ".join(definition.profiles)
            raise MalformedError(f"names the profile {self._profile!r}; there are {known}")
        clauses = clauses_of(definition.clauses, Wire.RECORDED, self._profile)
        limits = [clause for clause in clauses if clause in skip]
        self._tally = Tally([clause for clause in clauses if clause not in skip], limits)
        self._judge = self._judge_of(component)
        self._known = component.happens
        self._asked: dict[str, HistoryOp[object]] = {}
        self._next = 0
        self._end: HistoryEnd | None = None
        self._broken: dict[str, Broken] = {}
        self._stopped: Broken | None = None
        """The violation after which the judge is not asked any more."""
        is_searched = search is not None and not limits and self._is_in_order
        self._linearize = search if is_searched else None
        self._kept: list[tuple[HistoryOp[object], int]] = []
        """All events and their lines, while the history may still be searched."""
        self._gave_up = False
        self._steps: Mapping[str, Callable[[HistoryOp[object]], Violation | None]] = {
            "invoke": self._invoke,
            "ok": self._ok,
            "fail": self._fail,
            "info": self._info,
        }

    def feed(self, event: Body, line: int = 0) -> None:
        """Take the next line; `line` is its number in the file.

        Raises MalformedError if the line cannot come here: then it is not judged, and nothing has
        changed. A violation raises no error; `finish` reports it.
        """
        # This runs for every line; a match costs a third of isinstance with a union.
        match event:
            case HistoryOp():
                self._take(event, line)
            case HistoryEnd():
                self._take_end(event, line)
            case _:
                raise MalformedError("is a line of a trace in a history")

    @property
    def violation(self) -> Violation | None:
        """The first violation in the history so far, if there is one."""
        return next((broken.violation for broken in self._all_broken()), None)

    @property
    def under_way(self) -> int:
        """How many calls have begun and not ended."""
        return len(self._asked)

    def finish(self, *, cut_off: bool = False) -> RunVerdict:
        """Return the verdict; a history that was cut off is judged up to there and cannot pass."""
        del cut_off
        broken = self._all_broken()
        first = broken[0] if broken else None
        if first is not None:
            verdict, notes = Verdict.FAIL, self._unjudged()
        else:
            missing = self._missing()
            verdict = Verdict.INCONCLUSIVE if missing else Verdict.PASS
            notes = missing if self._stopped else (*missing, *self._judge.notes(self._end))
            notes = (*notes, GAVE_UP) if self._gave_up else notes
        return RunVerdict(
            run=self._header.history,
            format="history",
            component=self._header.component,
            implementation=f"{self._header.impl.name} {self._header.impl.version}",
            profile=self._profile,
            verdict=verdict,
            events=self._next,
            good_prefix=self._next if first is None else first.place.index,
            violation=None if first is None else first.violation,
            place=None if first is None else first.place,
            notes=notes,
            also_broken=broken[1:],
            skipped=dict(self._tally.skipped),
            checked=self._tally.counts(),
        )

    def _take(self, event: HistoryOp[object], line: int) -> None:
        self._require_place(event)
        if self._linearize is not None:
            self._keep(event, line)
        violation = self._steps[event.type](event)
        if violation is not None:
            self._breaks(Broken(violation=violation, place=Place(index=event.index, line=line)))
        self._next += 1

    def _keep(self, event: HistoryOp[object], line: int) -> None:
        self._kept.append((event, line))
        if len(self._kept) > MOST_EVENTS:
            self._linearize = None
            self._kept.clear()

    def _search(self, end: HistoryEnd) -> None:
        """Run the general search on a history in which the judge found nothing."""
        if self._linearize is None or self._broken:
            return
        # The end of what happens, as of a task's run, bounds no effect: no search has to know it.
        ops = tuple(op for op, _ in self._kept if op.type != "ok" or not self._known[op.f])
        whole = WholeHistory(header=self._header, profile=self._profile, ops=ops, quiet=end.quiet)
        found = self._linearize(whole)
        if found is None:
            return
        self._gave_up = found.verdict is Verdict.INCONCLUSIVE
        if found.violation is not None:
            place = Place(index=found.index, line=self._kept[found.index][1])
            self._broken[found.violation.rule] = Broken(violation=found.violation, place=place)

    def _breaks(self, broken: Broken) -> None:
        """Record a violation; stop asking the judge if it knows too little from now on."""
        rule = broken.violation.rule
        if not self._tally.skips(rule):
            self._broken.setdefault(rule, broken)
        if rule not in (NO_CALL_CRASHES, EVERY_CALL_RETURNS, *self._judge.goes_on_after):
            self._stopped = broken
            self._judge = UnorderedHistoryJudge((), self._tally)

    def _all_broken(self) -> tuple[Broken, ...]:
        """Return the first violation of each clause, except clauses that may not be promised."""
        return tuple(
            broken for rule, broken in self._broken.items() if not self._tally.is_open(rule)
        )

    def _judge_of(self, component: RecordedComponent) -> HistoryJudge:
        header = self._header
        if not self._is_in_order:
            return UnorderedHistoryJudge(component.balances, self._tally)
        return component.judge(header, self._profile, self._tally)

    @property
    def _is_in_order(self) -> bool:
        """Whether the events of different processes are in the order in which they happened."""
        return self._header.order != "process" and self._header.clock != "process_ns"

    def _missing(self) -> tuple[str, ...]:
        """Return why a history without a violation does not pass; an empty tuple if it does."""
        found: list[str] = []
        counts = f"events judged: {self._next:,}, calls that have not returned: {self.under_way:,}"
        if self._end is None:
            found.append(f"the line `end` is missing, and nobody knows what came after ({counts})")
        elif self._asked:
            found.append(f"calls had not returned, and were not judged to their end ({counts})")
        if not self._next or not any(self._tally.counts().values()):
            found.append("no clause was tested: nothing has been shown")
        return (*found, *self._unjudged())

    def _unjudged(self) -> tuple[str, ...]:
        """Return a note from which line on only crashes and calls that never return were judged."""
        if self._stopped is None:
            return ()
        rule, line = self._stopped.violation.rule, self._stopped.place.line
        return (
            f"{rule} is broken at line {line}: from there on only crashes, and calls that never "
            "return, were judged",
        )

    def _take_end(self, end: HistoryEnd, line: int) -> None:
        if self._end is not None:
            raise MalformedError("ends a history that has ended")
        if end.ops != self._next:
            raise MalformedError(f"says that there are {end.ops} ops, but {self._next} came")
        if end.quiet and self._asked:
            process = next(iter(self._asked))
            raise MalformedError(f"says that all is quiet, but the last call of {process!r} runs")
        if end.stuck is True and not self._asked:
            raise MalformedError("says that calls never return, but none is under way")
        self._end = end
        stuck = end.stuck is True and self._asked
        violation = _stuck(self._asked.values()) if stuck else self._judge.finish(end, self._next)
        if violation is not None:
            self._breaks(Broken(violation=violation, place=Place(index=self._next, line=line)))
        self._search(end)

    def _require_place(self, op: HistoryOp[object]) -> None:
        if self._end is not None:
            raise MalformedError("comes after the end of its history")
        if op.index != self._next:
            raise MalformedError(f"has the index {op.index} where {self._next} is next")
        if op.f not in self._known:
            raise MalformedError(f"has the call {op.f!r}, which a {self._header.component} lacks")
        if self._known[op.f]:
            if op.type not in ("invoke", "ok"):
                raise MalformedError(f"has the type {op.type!r}, but {op.f!r} is no call")
            return
        asked = self._asked.get(op.process)
        if op.type == "invoke":
            if asked is not None:
                raise MalformedError(f"begins a call while the last one of {op.process!r} runs")
            if len(self._asked) >= MOST_PROCESSES:
                raise MalformedError(f"would make more than {MOST_PROCESSES:,} open calls")
        elif asked is None:
            raise MalformedError(f"ends a call of {op.process!r}, which has none under way")
        elif asked.f != op.f:
            raise MalformedError(f"ends {op.f!r}, but {op.process!r} called {asked.f!r}")

    def _invoke(self, op: HistoryOp[object]) -> Violation | None:
        if not self._known[op.f]:
            self._asked[op.process] = op
        return self._judge.invoked(op)

    def _ok(self, op: HistoryOp[object]) -> Violation | None:
        if self._known[op.f]:
            return self._judge.ended(op)
        return self._judge.returned(self._asked.pop(op.process), op)

    def _fail(self, op: HistoryOp[object]) -> Violation | None:
        asked = self._asked.pop(op.process)
        if op.error == CRASHED:
            # It is not known how far the call came.
            self._judge.lost(asked, op)
            return _crashed(asked)
        return self._judge.failed(asked, op)

    def _info(self, op: HistoryOp[object]) -> Violation | None:
        self._judge.lost(self._asked.pop(op.process), op)
        return None


def _crashed(asked: HistoryOp[object]) -> Violation:
    return Violation(
        rule=NO_CALL_CRASHES,
        expected=f"{asked.f!r} returns, or is refused for a reason",
        observed=f"the call of {asked.process!r} ended in a defect",
        reason=f"{asked.f} of {asked.process!r}, event {asked.index}, ended in an error that no "
        "rule names",
    )


def _stuck(calls: Iterable[HistoryOp[object]]) -> Violation:
    names = ", ".join(f"{call.f!r} of {call.process!r}" for call in calls)
    return Violation(
        rule=EVERY_CALL_RETURNS,
        expected="every call returns",
        observed=f"these never do: {names}",
        reason=f"when the history ended, these calls had not returned: {names}",
    )


def _profile_of(header: HistoryHeader[object], profiles: tuple[str, ...]) -> str:
    """Return the profile that a header names, by default Kafka's, else the first profile."""
    if isinstance(header.profile, str):
        return header.profile
    return _KAFKA if _KAFKA in profiles else profiles[0]
