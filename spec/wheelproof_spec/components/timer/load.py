"""The load of a timer's recordings: which calls it has, and how the reference makes them.

`work` draws the calls from a seed; a program in another language reads them from `wheelproof load`.
`load` has the reference's timer make them, for `wheelproof record`.

Adds, cancels and sizes meet one another and the turns of the wheels. Most wheels are small, so that
tasks move down often and a bucket is soon used again.
"""

from functools import partial
from random import Random

from wheelproof import sync
from wheelproof_spec.base.calls import AdvanceClock, Close
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Run,
    Size,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.port import TimerAnswer, TimerPort, TimerRequest
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort
from wheelproof_spec.history.recording.work import (
    LATENESS_MS,
    LONGEST_PAUSE_US,
    PAUSES_ONCE_IN,
    RECENT,
    Make,
    Meet,
    Pause,
    Step,
    Work,
    do_work,
    rounds,
    scattered,
    wait_until_quiet,
)

_WHEEL_SIZES = (2, 3, 5, 20)
_WIDE = 100
_RUSH_TICKS = 4
_RUSH_HERD = 30
_RUSH_ADDS = 40
_NEXT_TURN_ONE_IN = (4, 16, 64)
_STEADY_ADDS = 20
_FEW_ONE_IN = 8
_HERD = 12
_SCATTERED = 20
_LAST_ADDS = 12
_LONGEST_HERD_MS = 30
_NEAR_MS = 3
_NEAR_ROUNDS = 6


class _Draw:
    """What has been drawn of a history so far."""

    def __init__(self, callers: Callers, wheel_size: int) -> None:
        self._threads = callers.threads
        self._wheel_size = wheel_size
        self._made = 0
        self._recent: list[Add | None] = [None] * RECENT

    def round(self, dice: Random) -> list[Step]:
        """Return one round."""
        adding = self._rush, self._rush, self._steady, self._steady
        # A round of cancels has few calls, so several come for each round of adds.
        cancelling = (self._near,) * _NEAR_ROUNDS
        return dice.choice((*adding, *cancelling, self._herd, self._scattered))(dice)

    def _rush(self, dice: Random) -> list[Step]:
        """Add many tasks for a few ticks in a row; when their buckets are taken, add to them again.

        An add that was late for its bucket then meets one for the next turn of the same bucket.
        """
        first_ms = dice.randrange(3, 8)
        steps: list[Step] = []
        for caller in range(self._threads):
            for ahead in range(_RUSH_TICKS):
                herd = range(dice.randrange(_RUSH_HERD))
                steps += [self._add(dice, caller, first_ms + ahead) for _ in herd]
        # Most are for the bucket that is being taken, and few for its next turn.
        rare = dice.choice(_NEXT_TURN_ONE_IN)
        for caller in range(self._threads):
            wait_us = first_ms * 1_000 - dice.randrange(1_000)
            steps.append(Pause(caller=caller, us=wait_us))
            for _ in range(_RUSH_ADDS):
                turn_ms = self._wheel_size if dice.randrange(rare) == 0 else 0
                steps.append(self._add(dice, caller, max(turn_ms - 1, 0) + dice.randrange(2)))
                if dice.randrange(PAUSES_ONCE_IN) == 0:
                    steps.append(Pause(caller=caller, us=dice.randrange(200)))
        return steps

    def _steady(self, dice: Random) -> list[Step]:
        """Adds without a rest for the tick that begins, and few for the next turn of its bucket.

        An add that is stopped in the middle then finds its bucket taken for the next turn, with
        nobody behind who would move it on.
        """
        steps: list[Step] = []
        for caller in range(self._threads):
            for _ in range(_STEADY_ADDS):
                turn_ms = self._wheel_size - 1 if dice.randrange(_FEW_ONE_IN) == 0 else 0
                steps.append(self._add(dice, caller, turn_ms + dice.randrange(2)))
                if dice.randrange(PAUSES_ONCE_IN) == 0:
                    steps.append(Pause(caller=caller, us=dice.randrange(200)))
        return steps

    def _herd(self, dice: Random) -> list[Step]:
        """Many tasks of one due time, cancelled by others just when they move down or are due."""
        delay_ms = dice.randrange(1, _LONGEST_HERD_MS)
        of: list[list[Make]] = [[] for _ in range(self._threads)]
        count = dice.randrange(2, _HERD)
        for _ in range(count):
            for caller in range(self._threads):
                of[caller].append(self._add(dice, caller, delay_ms))
        steps: list[Step] = [make for mine in of for make in mine]
        # They move when the rest of their delay is a multiple of a turn, and run at the end.
        turns = delay_ms // self._wheel_size
        moves_ms = delay_ms - dice.randrange(turns + 1) * self._wheel_size
        for caller in range(self._threads):
            wait_us = moves_ms * 1_000 - dice.randrange(LONGEST_PAUSE_US)
            steps.append(Pause(caller=caller, us=max(wait_us, 0)))
            theirs = of[(caller + 1) % self._threads]
            for make in dice.sample(theirs, len(theirs)):
                assert isinstance(make.call, Add)
                steps.append(Make(caller=caller, call=Cancel(task=make.call.task)))
                steps.append(Pause(caller=caller, us=dice.randrange(LONGEST_PAUSE_US // count)))
        return steps

    def _near(self, dice: Random) -> list[Step]:
        """Many tasks of one due time, each cancelled near it, as it is due, or moves down.

        The move is short, so a cancel meets it only if very many come in the last milliseconds.
        """
        delay_ms = dice.randrange(_NEAR_MS, _LONGEST_HERD_MS)
        of = [
            [self._add(dice, caller, delay_ms) for _ in range(_HERD)]
            for caller in range(self._threads)
        ]
        steps: list[Step] = [make for mine in of for make in mine]
        for caller in range(self._threads):
            wait_us = delay_ms * 1_000 - dice.randrange(1_000 * _NEAR_MS)
            steps.append(Pause(caller=caller, us=wait_us))
            for make in dice.sample(of[(caller + 1) % self._threads], _HERD):
                assert isinstance(make.call, Add)
                steps.append(Make(caller=caller, call=Cancel(task=make.call.task)))
        return steps

    def _scattered(self, dice: Random) -> list[Step]:
        """Whatever a caller may ask for, now and then."""
        return scattered(
            dice, self._threads, lambda caller: [self._anything(dice, caller)], _SCATTERED
        )

    def _anything(self, dice: Random, caller: int) -> Make:
        choice, known = dice.randrange(100), dice.choice(self._recent)
        if choice < 5:
            return Make(caller=caller, call=Size())
        if choice < 30 and known is not None:
            return Make(caller=caller, call=Cancel(task=known.task))
        if choice < 35 and known is not None:
            return Make(caller=caller, call=known, needs="add_again")
        return self._add(dice, caller, _delay_ms(dice))

    def _add(self, dice: Random, caller: int, delay_ms: int) -> Make:
        add = Add(task=f"t{self._made}", delay_ms=delay_ms)
        self._made += 1
        self._recent[dice.randrange(RECENT)] = add
        return Make(caller=caller, call=add)

    def close(self, dice: Random) -> list[Step]:
        """Close the timer while others add, each time what is due before all that waits."""
        closer = dice.randrange(self._threads)
        steps: list[Step] = [Meet()]
        for place in range(_LAST_ADDS, 0, -1):
            for caller in range(self._threads):
                # The closer begins later than the others, which are under way by then.
                if caller != closer or place > dice.randrange(_LAST_ADDS):
                    delay_ms = (place - 1) * self._threads + caller + 1
                    steps.append(self._add(dice, caller, delay_ms))
        return [*steps, Make(caller=closer, call=Close())]


def _delay_ms(dice: Random) -> int:
    """Return a delay: about half are in the lowest wheel, the others 0 or on the next two."""
    choice = dice.randrange(100)
    if choice < 5:
        return 0
    if choice < 55:
        return dice.randrange(1, 20)
    return dice.randrange(20, 200) if choice < 90 else dice.randrange(200, 600)


def work(callers: Callers) -> Work:
    """Return the work of one history; a timer of every second one is closed in the end."""
    dice = Random(f"timer {callers.seed} {callers.number}")
    # In a wide wheel each add of the end has a bucket of its own.
    wheel_size = dice.choice((2, _WIDE) if callers.hurried else _WHEEL_SIZES)
    drawn = _Draw(callers, wheel_size)
    steps = list(rounds(callers, dice, partial(_Draw.round, drawn)))
    if callers.hurried:
        steps += drawn.close(dice)
    config = TimerConfig(tick_ms=1, wheel_size=wheel_size, runs="later", lateness_ms=LATENESS_MS)
    return Work(config=config, steps=tuple(steps))


_ADVANCE = AdvanceClock(timeout_ms=10)


class TimerLoad:
    """A SystemTimer with one thread that advances it."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        self._finished = False
        self._closed = False

    @property
    def config(self) -> Config:
        """The settings of the timer."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the timer until every task has run or is cancelled, or it is closed."""
        assert isinstance(self._work.config, TimerConfig)
        timer = TimerPort(self._work.config, lambda task: recorder.begins(Run(task=task)))
        for step in self._work.steps:
            if isinstance(step, Make) and isinstance(step.call, Add):
                # Other callers may cancel it, or add it again, during the add.
                timer.prepare(step.call.task, step.call.delay_ms)
        recorded = RecordedPort(timer, recorder)
        reaper = sync.thread(partial(self._reap, recorded), "reaper")
        reaper.start()
        try:
            do_work(self._work, callers, partial(self._make, recorded))
            nothing_left = WaitingTasks(size=0)
            wait_until_quiet(lambda: self._closed or timer.perform(Size()) == nothing_left)
        finally:
            self._finished = True
            reaper.join()
            timer.perform(Close())

    def _reap(self, timer: RecordedPort[TimerRequest, TimerAnswer]) -> None:
        is_open = True
        while is_open and not self._finished:
            is_open = timer.perform(_ADVANCE) is not None

    def _make(self, timer: RecordedPort[TimerRequest, TimerAnswer], step: Make) -> None:
        call = step.call
        assert isinstance(call, Add | Cancel | Size | Close)
        timer.perform(call)
        if isinstance(call, Close):
            self._closed = True


def load(callers: Callers) -> TimerLoad:
    """Return the load of one history."""
    return TimerLoad(callers)
