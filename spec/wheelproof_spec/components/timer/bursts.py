"""The bursts of a driven timer: callers that add and cancel a few tasks, and one that advances.

A task runs between the answer that tells of it and the one before. So its run stands in the history
just in front of that answer: no other answer, and no call that began later, is between the two.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import replace

from wheelproof_spec.base.calls import Advance, AdvanceClock, Advanced, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.base.component import Config
from wheelproof_spec.base.contract import contract_of
from wheelproof_spec.base.port import Asked
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerCall,
    TimerClause,
    TimerConfig,
    TimerLimit,
    TimerObservation,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.components.timer.work import TASKS, MoveClockBy, TimerBursts, TimerWork
from wheelproof_spec.drive.work import SeededDraw
from wheelproof_spec.fuzz.overlapping import ALONE, BurstRecord, DrivenBursts, case_of
from wheelproof_spec.fuzz.threaded_case import Burst, ThreadedCase

_MOST_BURSTS = 3
_MOST_CALLERS = 3
_MOST_CALLS = 2
_ADDS_AND_CANCELS = ("add", "add", "cancel")
_UNSEEN = ("the order in which tasks run",)
_EXECUTOR = "executor"


def bursts(profile: str, tally: Tally) -> DrivenBursts[TimerCall, TimerObservation]:
    """Return the bursts of a timer, judged by the contract of a profile."""
    work = TimerBursts(
        within=TimerWork(
            min_wheel_size=2 if tally.skips(TimerLimit.ONE_BUCKET) else 1,
            max_wheel_size=8,
            max_tick_ms=4,
            max_start_ms=50,
            max_level=2,
            negative_delays=not tally.skips(TimerLimit.NEGATIVE_DELAY),
            bounds=tally.bounds,
        ),
        tasks=TASKS[:4],
        near=True,
    )

    def record(config: Config) -> TimerRecord:
        assert isinstance(config, TimerConfig)
        return TimerRecord(config, profile, tally.skipped)

    return DrivenBursts(
        lambda chance: _drawn(work, chance),
        record,
        refused=TimerClause.ACCEPTS_ITS_DOMAIN,
        unseen=_UNSEEN,
    )


def _drawn(work: TimerBursts, chance: random.Random) -> ThreadedCase[Config, TimerCall]:
    draw = SeededDraw(chance)
    setup, kinds = work.setup(draw), work.kinds()
    now_ms = setup.config.start_ms
    found: list[Burst[TimerCall]] = []

    def call() -> TimerCall:
        step = kinds[draw.among(_ADDS_AND_CANCELS)].in_a_burst(draw, setup)
        assert isinstance(step, Add | Cancel)
        return step

    def advance() -> TimerCall:
        nonlocal now_ms
        step = kinds["move_clock"].in_a_burst(draw, setup)
        assert isinstance(step, MoveClockBy)
        now_ms += step.jump_ms
        return Advance(to_ms=now_ms)

    for _ in range(draw.between(1, _MOST_BURSTS)):
        programs = [
            tuple(call() for _ in range(draw.between(1, _MOST_CALLS)))
            for _ in range(draw.between(1, _MOST_CALLERS))
        ]
        advances = tuple(advance() for _ in range(draw.between(0, _MOST_CALLS)))
        if advances:
            programs.insert(draw.below(len(programs) + 1), advances)
        found.append(tuple(programs))
        if draw.once_in(2):
            found.append(((advance(),),))
    return case_of(setup.config, tuple(found))


class TimerRecord(BurstRecord[TimerCall, TimerObservation]):
    """One case of a timer."""

    def __init__(self, config: TimerConfig, profile: str, skip: Collection[str]) -> None:
        """Begin. A driver's answer comes when what the call has submitted has run."""
        claimed = replace(config, runs="inline", run_order="open")
        super().__init__(RECORDED, claimed, profile, skip, RECORDED.search)
        self._contract = contract_of(profile)
        self._tick_ms = config.tick_ms
        self._now_ms = self._last_due_ms = config.start_ms

    def is_possible(self, call: TimerCall) -> bool:
        """Leave out a move of the clock that would go back."""
        return not isinstance(call, Advance) or call.to_ms >= self._now_ms

    def begins(self, asked: Asked[TimerCall]) -> None:
        """Record that a call may begin; the clock moves at some time of an advance."""
        call, caller = asked.call, asked.caller or ALONE
        if isinstance(call, Advance):
            self._now_ms = max(self._now_ms, call.to_ms)
            self.clock_begins(caller, call.to_ms)
            self.write(caller, AdvanceClock())
            return
        assert not isinstance(call, Reset)
        self.write(caller, call)

    def ends(self, asked: Asked[TimerCall], seen: TimerObservation) -> None:
        """Record that a call has ended, and what ran before."""
        call, caller = asked.call, asked.caller
        self._ran(seen)
        match call:
            case Advance(to_ms=to_ms):
                self.clock_ends(caller, to_ms)
                self.write(caller, AdvanceClock(), answer=Advanced())
            case Cancel():
                told = ABSENT if seen.cancelled is None else seen.cancelled
                self.write(caller, call, answer=Cancelled(cancelled=told))
            case Add(delay_ms=delay_ms):
                due_ms = self._contract.due_ms(self._now_ms + delay_ms, self._tick_ms)
                self._last_due_ms = max(self._last_due_ms, due_ms)
                self.write(caller, call, answer=Nothing())
            case Reset() | Size():
                raise AssertionError(call)

    def rest(self) -> TimerCall:
        """Return a look at the size."""
        return Size()

    def rests(self, call: TimerCall, seen: TimerObservation) -> None:
        """Record the size, or the end of an advance that nobody met."""
        self._ran(seen)
        if isinstance(call, Size) and seen.size is not None:
            self.write(ALONE, call)
            self.write(ALONE, call, answer=WaitingTasks(size=seen.size))
        elif isinstance(call, Advance):
            self.write(ALONE, AdvanceClock(), answer=Advanced())

    def last(self) -> Iterator[Burst[TimerCall]]:
        """Advance past every due time: then no task may be left."""
        last_ms = max(self._now_ms, self._last_due_ms)
        yield ((Advance(to_ms=last_ms),),)
        yield ((Advance(to_ms=last_ms + self._contract.lateness_in_ms(self._tick_ms)),),)

    def _ran(self, seen: TimerObservation) -> None:
        for task in seen.fired:
            self.write(_EXECUTOR, Run(task=task))
