"""A purgatory with real threads on a manual clock, judged after each burst of calls."""

import itertools
from collections.abc import Callable
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.purgatory import CompletionDiscipline, DelayedOperation
from wheelproof.sync import Volatile, single_thread_executor, use_runtime, volatile
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.contract import (
    Condition,
    Gauges,
    OperationId,
    OperationSpec,
)
from wheelproof_spec.components.purgatory.fuzz.concurrent import (
    Callback,
    CallKind,
    ConcurrentPurgatory,
    PurgatoryCall,
)
from wheelproof_spec.components.purgatory.reference import AnyPurgatory
from wheelproof_spec.engines.fuzz.burst import BurstError, await_submitted, run_burst
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase
from wheelproof_spec.engines.runtimes.hooks import InstrumentedRuntime

KEYS = ("x", "y")
CONDITIONS = ("p", "q")
_SHARDS = 2


def run_case(
    purgatory_class: type[AnyPurgatory],
    discipline: Callable[[], CompletionDiscipline],
    case: ThreadedCase,
) -> Violation | None:
    """Run a whole case from the beginning and return the first violation."""
    purgatory = PurgatoryUnderTest(purgatory_class, discipline, case)
    try:
        for burst in case.bursts:
            violation = purgatory.run(burst)
            if violation is not None:
                return violation
        return purgatory.run(purgatory.drain())
    finally:
        purgatory.close()


class PurgatoryUnderTest:
    """The purgatory, its operations and its oracle.

    In words: "watch 25 xy p" hands in an operation with a time-out of 25 ms, two keys and one
    condition; "set p", "check x", "cancel x", "force" (the operation handed in last), "clock to
    25", "advance", "purge".
    """

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory],
        discipline: Callable[[], CompletionDiscipline],
        case: ThreadedCase,
    ) -> None:
        setup = dict(case.setup)
        self._discipline = discipline
        self._order = itertools.count()
        self._names = itertools.count(1)
        self._completions: list[Callback] = []
        self._expirations: list[Callback] = []
        self._latest: _RecordingOperation | None = None
        self._tick_ms = setup["tick_ms"]
        self._oracle = ConcurrentPurgatory(tick_ms=self._tick_ms, start_ms=setup["start_ms"])
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        with use_runtime(self._runtime):
            self._conditions = {name: volatile(False, name) for name in CONDITIONS}
            self._clock = ManualClock(setup["start_ms"])
            self._executor = single_thread_executor("purgatory under test")
            timer = SystemTimer(
                "under test",
                tick_ms=self._tick_ms,
                wheel_size=setup["wheel_size"],
                clock=self._clock,
                executor=self._executor,
            )
            self._purgatory = purgatory_class(
                "under test",
                timer,
                purge_interval=setup["purge_interval"],
                shards=_SHARDS,
                reaper_enabled=False,
            )

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._oracle.now_ms

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and judge what was seen."""
        try:
            # Operations are made in the threads, of primitives of the same runtime.
            with use_runtime(self._runtime):
                calls = run_burst([[self._call(words) for words in program] for program in burst])
            self._settle()
        except BurstError as error:
            return error.violation
        completions, expirations = tuple(self._completions), tuple(self._expirations)
        self._completions.clear()
        self._expirations.clear()
        gauges = Gauges(
            watched=self._purgatory.watched(),
            delayed=self._purgatory.num_delayed(),
            keys=self._purgatory.num_keys(),
        )
        return self._oracle.judge(calls, completions, expirations, gauges)

    def drain(self) -> Burst:
        """Return the burst after which nobody waits and nothing is left."""
        beyond_ms = max(self._oracle.last_due_ms(), self.now_ms) + self._tick_ms
        return ((f"clock to {beyond_ms}", "advance", "settle", "purge"),)

    def close(self) -> None:
        """End the executor's thread."""
        self._executor.shutdown()

    def _call(self, words: str) -> Callable[[], PurgatoryCall]:
        kind, _, argument = words.partition(" ")
        match kind:
            case "watch":
                delay_ms, keys, conditions = (*argument.split(), "")[:3]
                return partial(self._watch, int(delay_ms), tuple(keys), tuple(conditions))
            case "set":
                return partial(self._set, argument)
            case "check":
                return partial(self._check, argument)
            case "cancel":
                return partial(self._cancel, argument)
            case "force":
                return self._force
            case "clock":
                return partial(self._tick, int(argument.removeprefix("to ")))
            case "advance":
                return self._advance
            case _:
                return partial(self._purge, settle=kind == "settle")

    def _watch(
        self, delay_ms: int, keys: tuple[str, ...], conditions: tuple[Condition, ...]
    ) -> PurgatoryCall:
        spec = OperationSpec(
            name=f"op{next(self._names)}", delay_ms=delay_ms, keys=keys, conditions=conditions
        )
        operation = _RecordingOperation(
            spec,
            [self._conditions[name] for name in conditions],
            self._discipline(),
            self._order,
            self._completions,
            self._expirations,
        )
        self._latest = operation
        invoked = next(self._order)
        done = self._purgatory.try_complete_else_watch(operation, keys)
        return PurgatoryCall(
            kind=CallKind.WATCH,
            invoked=invoked,
            returned=next(self._order),
            spec=spec,
            done=done,
        )

    def _set(self, condition: Condition) -> PurgatoryCall:
        invoked = next(self._order)
        self._conditions[condition].set(True)
        return PurgatoryCall(
            kind=CallKind.SET, invoked=invoked, returned=next(self._order), condition=condition
        )

    def _check(self, key: str) -> PurgatoryCall:
        invoked = next(self._order)
        count = self._purgatory.check_and_complete(key)
        return PurgatoryCall(
            kind=CallKind.CHECK, invoked=invoked, returned=next(self._order), key=key, count=count
        )

    def _cancel(self, key: str) -> PurgatoryCall:
        invoked = next(self._order)
        cancelled = self._purgatory.cancel_for_key(key)
        return PurgatoryCall(
            kind=CallKind.CANCEL,
            invoked=invoked,
            returned=next(self._order),
            key=key,
            cancelled=tuple(map(_name, cancelled)),
        )

    def _force(self) -> PurgatoryCall:
        operation = self._latest
        invoked = next(self._order)
        done = operation is not None and operation.force_complete()
        return PurgatoryCall(
            kind=CallKind.FORCE,
            invoked=invoked,
            returned=next(self._order),
            operation="" if operation is None else operation.name,
            done=done,
        )

    def _tick(self, to_ms: int) -> PurgatoryCall:
        invoked = next(self._order)
        self._clock.advance_to(to_ms)
        return PurgatoryCall(
            kind=CallKind.TICK, invoked=invoked, returned=next(self._order), to_ms=to_ms
        )

    def _advance(self) -> PurgatoryCall:
        invoked = next(self._order)
        self._purgatory.advance_clock(Millis(0))
        return PurgatoryCall(kind=CallKind.ADVANCE, invoked=invoked, returned=next(self._order))

    def _purge(self, *, settle: bool) -> PurgatoryCall:
        invoked = next(self._order)
        if settle:
            self._settle()
        self._purgatory.purge_completed()
        return PurgatoryCall(kind=CallKind.PURGE, invoked=invoked, returned=next(self._order))

    def _settle(self) -> None:
        """Wait until everything submitted has run."""
        await_submitted(self._executor, "Purgatory.EveryCallReturns")


class _RecordingOperation(DelayedOperation):
    """An operation that ends when one of its conditions is set, and notes its callbacks."""

    __slots__ = ("_cells", "_completions", "_expirations", "_order", "name")

    def __init__(
        self,
        spec: OperationSpec,
        cells: list[Volatile[bool]],
        discipline: CompletionDiscipline,
        order: "itertools.count[int]",
        completions: list[Callback],
        expirations: list[Callback],
    ) -> None:
        super().__init__(spec.delay_ms, discipline=discipline)
        self.name: OperationId = spec.name
        self._cells = cells
        self._order = order
        self._completions = completions
        self._expirations = expirations

    def try_complete(self) -> bool:
        """Test the conditions."""
        return any(cell.get() for cell in self._cells) and self.force_complete()

    def on_complete(self) -> None:
        """Note it."""
        self._completions.append(Callback(next(self._order), self.name))

    def on_expiration(self) -> None:
        """Note it."""
        self._expirations.append(Callback(next(self._order), self.name))


def _name(operation: DelayedOperation) -> OperationId:
    return operation.name if isinstance(operation, _RecordingOperation) else ""
