'''The test of a purgatory that is written in Python: a state machine that Hypothesis runs.

    class TestMine(PurgatoryMachine):
        make = MyPurgatory

That is a whole test for pytest. The machine hands in operations, makes their predicates true,
triggers, forces, cancels and advances, one call at a time. It compares each answer, each callback
and what the purgatory tells about itself with the oracle. Then it does so with threads: in a step
`together` two or three of them call at once, often about one operation. All calls and callbacks
are recorded, and judged as every other history. Once the threads have ended, all time-outs pass and
all keys are tried, so nothing may be left.

>>> from wheelproof_spec.base.results.fuzz_report import ContractViolationError
>>> class Forgetful:
...     """It tries an operation once and then forgets it."""
...     def __init__(self, tick_ms, wheel_size, start_ms, purge_interval): pass
...     def try_complete_else_watch(self, operation, watch_keys): return False
...     def check_and_complete(self, key): return 0
...     def advance(self, to_ms): pass
...     def close(self): pass
>>> class TestForgetful(PurgatoryMachine):
...     make = Forgetful
>>> try:
...     TestForgetful().test_it_keeps_its_contract()
... except ContractViolationError as error:
...     print(error.violation.rule)
Purgatory.TriggerCompletes
'''

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    PREDICATES_TOO,
    WHEELPROOF,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    Key,
    OperationId,
    PurgatoryCall,
    PurgatoryClause,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history import RECORDED
from wheelproof_spec.components.purgatory.history.search import search
from wheelproof_spec.components.purgatory.oracle import PurgatoryOracle
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.testing.machine import AdvanceBy, ContractMachine
from wheelproof_spec.testing.purgatory_programs import (
    ENDING_CALLS,
    FIRST_CALLS,
    HOLDS,
    KEYS,
    LONGEST_MS,
    MS,
    SOME_KEYS,
    Force,
    HandIn,
    Program,
    ProgramCall,
    Trigger,
    programs,
)
from wheelproof_spec.testing.python_purgatory import (
    OPTIONAL,
    MakePurgatory,
    PurgatoryCalls,
    Record,
)

_GAUGES = AskGauges()
_BACK = st.integers(0, 3)


class PurgatoryMachine(ContractMachine):
    """Calls a purgatory and compares it with a ledger; a subclass says what `make` is.

    `make` is called with `tick_ms`, `wheel_size`, `start_ms` and `purge_interval`; see
    `MakePurgatory`, `PythonPurgatory` and `OptionalMethods`. `profile` says what becomes of what
    `cancel_for_key` returns: by `wheelproof` it never completes, by `kafka` only its time-out is
    cancelled. `skip` has the clauses that are known limits and are not judged: those of the three
    counts, and `PurgatoryClause.ATTEMPTS_EXCLUDE` if that is not claimed (standard 2.7). A subclass
    may add rules. See `ContractMachine` for `seed`, `settings` and `threads`.
    """

    make: ClassVar[MakePurgatory]
    component = any_definition(DEFINITION)
    profile: ClassVar[str] = WHEELPROOF
    skip: ClassVar[Collection[PurgatoryClause]] = ()

    @initialize(
        tick_ms=st.integers(1, 3),
        wheel_size=st.integers(2, 4),
        start_ms=st.integers(0, 9),
        purge_interval=st.integers(0, 2),
    )
    def new_purgatory(
        self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int
    ) -> None:
        """Make the purgatory."""
        self._tell(
            "new_purgatory",
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            start_ms=start_ms,
            purge_interval=purge_interval,
        )
        claims = PREDICATES_TOO
        if self.profile != WHEELPROOF:
            claims = PurgatoryConfig(predicates="recorded")
        elif PurgatoryClause.ATTEMPTS_EXCLUDE in self.skip:
            claims = replace(claims, attempts=ABSENT)
        self._config = replace(
            claims,
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            start_ms=start_ms,
            purge_interval=purge_interval,
        )
        purgatory = self._under_test = type(self).make(
            tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms, purge_interval=purge_interval
        )
        self._oracle = PurgatoryOracle(self.profile, Tally(limits=self.skip))
        self._names = count(1)
        self._made: list[OperationId] = []
        self._now_ms = start_ms
        self._begin_history()
        self._record = Record(self._history.recorder)
        self._calls = PurgatoryCalls(purgatory, self._record)
        self._offered = self._calls.offered
        self.not_offered.update(name for name in OPTIONAL if name not in self._offered)

    @rule(delay_ms=MS, keys=SOME_KEYS, holds=HOLDS)
    def try_complete_else_watch(self, delay_ms: int, keys: str, holds: bool) -> None:
        """Hand in a new operation; `holds` says that its predicate is true already."""
        self._tell("try_complete_else_watch", delay_ms=delay_ms, keys=keys, holds=holds)
        for call in self._hand_in(HandIn(delay_ms=delay_ms, keys=keys, holds=holds)):
            self._call(call)

    @rule(delays_ms=st.lists(MS, min_size=2, max_size=3), keys=SOME_KEYS)
    def line_up(self, delays_ms: list[int], keys: str) -> None:
        """Hand in some operations that wait for the same keys."""
        self._tell("line_up", delays_ms=delays_ms, keys=keys)
        for delay_ms in delays_ms:
            for call in self._hand_in(HandIn(delay_ms=delay_ms, keys=keys, holds=False)):
                self._call(call)

    @precondition(lambda self: self._oracle.alive())
    @rule(last=st.integers(1, 3))
    def satisfy(self, last: int) -> None:
        """Make the predicates of the last operations that wait true."""
        self._tell("satisfy", last=last)
        for name in self._waiting()[-last:]:
            self._call(SetCondition(condition=name))

    @rule(key=st.sampled_from(KEYS))
    def check_and_complete(self, key: Key) -> None:
        """Try the operations of a key."""
        self._tell("check_and_complete", key=key)
        self._call(CheckAndComplete(key=key))

    @precondition(lambda self: self._oracle.alive())
    @rule(last=st.integers(1, 3), key=st.sampled_from(KEYS))
    def trigger(self, last: int, key: Key) -> None:
        """Make the predicates of the last operations that wait true, then try a key."""
        self._tell("trigger", last=last, key=key)
        for name in self._waiting()[-last:]:
            self._call(SetCondition(condition=name))
        self._call(CheckAndComplete(key=key))

    @precondition(lambda self: self._made and "force_complete" in self._offered)
    @rule(back=_BACK)
    def force_complete(self, back: int) -> None:
        """Force the completion of an operation, which may be done: the `back`th newest."""
        self._tell("force_complete", back=back)
        self._call(ForceComplete(operation=_counted_back(self._made, back)))

    @precondition(lambda self: "cancel_for_key" in self._offered)
    @rule(key=st.sampled_from(KEYS))
    def cancel_for_key(self, key: Key) -> None:
        """Give the operations of a key up."""
        self._tell("cancel_for_key", key=key)
        self._call(CancelForKey(key=key))

    @rule(by_ms=MS)
    def advance(self, by_ms: int) -> None:
        """Advance the clock."""
        self._tell("advance", by_ms=by_ms)
        self._now_ms += by_ms
        self._call(Advance(to_ms=self._now_ms))

    @precondition(lambda self: self.threads)
    @rule(first=programs(advances=True), second=programs(), third=st.just(()) | programs())
    def together(self, first: Program, second: Program, third: Program) -> None:
        """Let each program run on its own thread, all at once; then let everything end.

        The threads are joined. Then all time-outs pass, all predicates are made true, and all keys
        are tried. So the purgatory is empty, and the oracle goes on with an empty one.
        """
        self._tell("together", first=first, second=second, third=third)
        self._burst([program for program in (first, second, third) if program])

    @precondition(lambda self: self.threads)
    @rule(first=FIRST_CALLS, others=st.lists(ENDING_CALLS, min_size=1, max_size=2))
    def race(self, first: ProgramCall, others: list[ProgramCall]) -> None:
        """Let threads end one operation, each by one call. See `together`.

        The first thread hands the operation in, or it waits already and is due in 30 ms.
        """
        self._tell("race", first=first, others=others)
        if not isinstance(first, HandIn):
            waits = HandIn(delay_ms=LONGEST_MS, keys=KEYS[0], holds=False)
            for call in self._hand_in(waits):
                self._call(call)
        self._burst([(call,) for call in (first, *others)])

    def _begin_history(self) -> None:
        """Begin with an empty purgatory: the oracle, and the judge of what is recorded."""
        self._config = replace(self._config, start_ms=self._now_ms)
        self._history = JudgedBursts(
            RECORDED,
            self._config,
            clock="virtual",
            profile=self.profile,
            skip=self.skip,
            search=search,
        )
        self._oracle.judge(Reset(config=self._config), PurgatoryObservation())
        self._made.clear()

    def _burst(self, drawn: Sequence[Program]) -> None:
        self._judge_burst(self._history, self._resolved(drawn))
        self._let_everything_end()
        self._begin_history()
        self._record.recorder = self._history.recorder

    def _waiting(self) -> list[OperationId]:
        """Return who waits, by the oracle, the oldest first."""
        alive = self._oracle.alive()
        return [name for name in self._made if name in alive]

    def _hand_in(self, call: HandIn) -> Sequence[PurgatoryCall]:
        """Return the calls that hand a new operation in."""
        name, keys = f"op{next(self._names)}", tuple(call.keys)
        self._calls.new_operation(name, call.delay_ms, keys)
        self._made.append(name)
        handed_in = TryCompleteElseWatch(
            operation=name, delay_ms=call.delay_ms, keys=keys, conditions=(name,)
        )
        return (SetCondition(condition=name), handed_in) if call.holds else (handed_in,)

    def _resolved(self, drawn: Sequence[Program]) -> Sequence[Sequence[Callable[[], object]]]:
        """Return what each thread calls. New operations are made first: any may be triggered."""
        before, handed_in = self._waiting(), len(self._made)
        hand_ins = [
            [self._hand_in(call) if isinstance(call, HandIn) else () for call in program]
            for program in drawn
        ]
        known = (*before, *self._made[handed_in:])
        made = (
            [
                partial(self._calls.perform, one)
                for call, mine in zip(program, handed, strict=True)
                for one in mine or self._made_of(call, before, known)
            ]
            for program, handed in zip(drawn, hand_ins, strict=True)
        )
        return [program for program in made if program] or [[]]

    def _made_of(
        self, call: ProgramCall, before: Sequence[OperationId], known: Sequence[OperationId]
    ) -> Sequence[PurgatoryCall]:
        """Return the calls that another call of a program stands for; none if it has no object."""
        match call:
            case Trigger(back=back) if known:
                name = _counted_back(known, back)
                key = self._calls.keys_of(name)[0]
                return SetCondition(condition=name), CheckAndComplete(key=key)
            case Force(back=back) if before and "force_complete" in self._offered:
                return (ForceComplete(operation=_counted_back(before, back)),)
            case CancelForKey() if "cancel_for_key" in self._offered:
                return (call,)
            case CheckAndComplete() | AskGauges():
                return (call,)
            case AdvanceBy(by_ms=by_ms):
                self._now_ms += by_ms
                return (Advance(to_ms=self._now_ms),)
            case _:
                return ()

    def _let_everything_end(self) -> None:
        """End what still waits, and judge the whole history."""
        over = Advance(to_ms=self._now_ms + LONGEST_MS)
        # The first advance moves the clock, so only the second one begins when all is due.
        calls: list[PurgatoryCall] = [_GAUGES, over, over]
        calls += (SetCondition(condition=name) for name in self._made)
        calls += (CheckAndComplete(key=key) for key in KEYS)
        calls.append(_GAUGES)
        for call in calls:
            self._fail_if(self._history.judge(partial(self._calls.perform, call)))
        self._fail_if(self._history.finish())
        self._record.take_callbacks()
        self._now_ms = over.to_ms

    def _call(self, call: PurgatoryCall) -> None:
        """Make one call, then ask for the gauges; judge both, as recorded and by the oracle."""
        for made in (call, _GAUGES):
            answers: list[PurgatoryObservation] = []
            # The history tells what came first, so it names the clause more exactly.
            self._fail_if(self._history.judge(partial(self._answer, made, answers)))
            completed, expired = self._record.take_callbacks()
            seen = replace(answers[0], on_complete=completed, on_expiration=expired)
            self._fail_if(self._oracle.judge(made, seen))

    def _answer(self, call: PurgatoryCall, into: list[PurgatoryObservation]) -> None:
        into.append(self._calls.perform(call))


def _counted_back(names: Sequence[OperationId], back: int) -> OperationId:
    return names[-1 - back % len(names)]
