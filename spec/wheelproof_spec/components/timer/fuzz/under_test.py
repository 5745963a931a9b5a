"""A SystemTimer with several threads on a manual clock, judged after each burst of calls."""

import itertools
from collections.abc import Sequence
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.timer.calls import TaskId, TimerConfig
from wheelproof_spec.components.timer.fuzz.concurrent import CallKind, ConcurrentTimer, TimerCall
from wheelproof_spec.components.timer.fuzz.stages import Call, RealThreads, TimerStage
from wheelproof_spec.engines.fuzz.burst import BurstError
from wheelproof_spec.engines.fuzz.threaded_case import Burst, Setup, ThreadedCase

_DELAY = "delay_ms of "


def setup_of(config: TimerConfig, delay_ms: dict[TaskId, int]) -> Setup:
    """Return the set-up of a case: a configuration, and one task for each delay."""
    return (
        ("tick_ms", config.tick_ms),
        ("wheel_size", config.wheel_size),
        ("start_ms", config.start_ms),
        *((_DELAY + task, delay) for task, delay in delay_ms.items()),
    )


def run_case(
    timer_class: type[SystemTimer], contract: TimerContract, case: ThreadedCase
) -> Violation | None:
    """Run a whole case from the beginning and return the first violation."""
    timer = TimerUnderTest(timer_class, contract, case.setup, RealThreads(case.preemption()))
    try:
        for burst in case.bursts:
            violation = timer.run(burst)
            if violation is not None:
                return violation
        return timer.run(timer.drain())
    finally:
        timer.close()


class TimerUnderTest:
    """The timer, its tasks and its oracle, on a stage that says what its threads are."""

    def __init__(
        self,
        timer_class: type[SystemTimer],
        contract: TimerContract,
        setup: Setup,
        stage: TimerStage,
    ) -> None:
        values = dict(setup)
        self._tick_ms = values["tick_ms"]
        self._order = itertools.count()
        self._fired: list[TaskId] = []
        self._oracle: ConcurrentTimer[TaskId] = ConcurrentTimer(
            tick_ms=self._tick_ms, start_ms=values["start_ms"], contract=contract
        )
        self._stage = stage
        with stage.alone():
            self._tasks = {
                key.removeprefix(_DELAY): _RecordingTask(key, delay, self._fired)
                for key, delay in values.items()
                if key.startswith(_DELAY)
            }
            self._clock = ManualClock(values["start_ms"])
            self._timer = timer_class(
                "under test",
                tick_ms=self._tick_ms,
                wheel_size=values["wheel_size"],
                clock=self._clock,
                executor=stage.executor,
            )

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._oracle.now_ms

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and judge what was seen."""
        try:
            calls = self._stage.run(
                [[(words, self._call(words)) for words in program] for program in burst]
            )
            size = self._stage.settle(self._timer)
        except BurstError as error:
            return error.violation
        fired = tuple(self._fired)
        self._fired.clear()
        return self._oracle.judge(calls, fired, size)

    def drain(self) -> Burst:
        """Return the burst after which nothing waits and nothing is linked."""
        beyond_ms = max(self._oracle.last_due_ms(), self.now_ms) + self._tick_ms
        return ((f"clock to {beyond_ms}", "advance"),)

    def close(self) -> None:
        """End the stage's threads."""
        self._stage.close()

    def _call(self, words: str) -> Call:
        kind, _, argument = words.partition(" ")
        match kind:
            case "add":
                return partial(self._add, argument)
            case "cancel":
                return partial(self._cancel, argument)
            case "clock":
                return partial(self._tick, int(argument.removeprefix("to ")))
            case _:
                return self._advance

    def _add(self, name: TaskId) -> TimerCall[TaskId]:
        task = self._tasks[name]
        invoked = next(self._order)
        self._timer.add(task)
        return TimerCall(
            kind=CallKind.ADD,
            invoked=invoked,
            returned=next(self._order),
            task=name,
            delay_ms=task.delay_ms,
        )

    def _cancel(self, name: TaskId) -> TimerCall[TaskId]:
        task = self._tasks[name]
        invoked = next(self._order)
        cancelled = task.cancel()
        return TimerCall(
            kind=CallKind.CANCEL,
            invoked=invoked,
            returned=next(self._order),
            task=name,
            cancelled=cancelled,
        )

    def _tick(self, to_ms: int) -> TimerCall[TaskId]:
        invoked = next(self._order)
        self._clock.advance_to(to_ms)
        return TimerCall(
            kind=CallKind.TICK, invoked=invoked, returned=next(self._order), to_ms=to_ms
        )

    def _advance(self) -> TimerCall[TaskId]:
        invoked = next(self._order)
        self._timer.advance_clock(Millis(0))
        return TimerCall(kind=CallKind.ADVANCE, invoked=invoked, returned=next(self._order))


class _RecordingTask(TimerTask):
    __slots__ = ("_fired", "_name")

    def __init__(self, key: str, delay_ms: int, fired: list[TaskId]) -> None:
        super().__init__(delay_ms)
        self._name = key.removeprefix(_DELAY)
        self._fired = fired

    def run(self) -> None:
        self._fired.append(self._name)


def programs_of_clock(times_ms: Sequence[int]) -> Burst:
    """Return the program of a thread that advances the clock step by step; none without steps."""
    program = tuple(words for time_ms in times_ms for words in (f"clock to {time_ms}", "advance"))
    return (program,) if program else ()
