"""The port of the timer: each typed call is the call of one method of a SystemTimer or a task.

Whoever calls the reference's timer, or a variant of it, does it here: driven cases, bursts of
threads, loads. Any number of threads may call at the same time. `TimerRecorder` is the way back,
from a call of a method to the typed call, for the recording of any program.

>>> ran: list[TaskId] = []
>>> clock = ManualClock(0)
>>> timer = TimerPort(TimerConfig(), ran.append, clock=clock, executor=InlineExecutor())
>>> timer.perform(Add(task="a", delay_ms=5))
Nothing()
>>> timer.perform(Tick(to_ms=5))
Nothing()
>>> timer.perform(AdvanceClock(timeout_ms=0))
Advanced(expired=True)
>>> ran
['a']
"""

from collections.abc import Callable
from functools import wraps

from wheelproof.clock import ManualClock
from wheelproof.sync import Executor
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.timer.system_timer import DEFAULT_TICK_MS, DEFAULT_WHEEL_SIZE
from wheelproof.timer.timer_task import TimerTaskEntry
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Close, Tick
from wheelproof_spec.base.codec.vocabulary import Absent, Nothing
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TaskId,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.history.recording.recorded_run import (
    HistoryWriter,
    Replacements,
    nothing,
    telling,
)
from wheelproof_spec.history.recording.recorded_run import Run as RecordedRun

TimerRequest = Add | Cancel | Size | Tick | AdvanceClock | Close
"""A call of one method of a timer, of a task, or of the clock."""
TimerAnswer = Cancelled | WaitingTasks | Advanced | Nothing


class TimerPort:
    """A timer, and its tasks by name. `ran` is called by each run of a task, with its name."""

    def __init__(
        self,
        config: TimerConfig,
        ran: Callable[[TaskId], object],
        timer_class: type[SystemTimer] = SystemTimer,
        *,
        clock: ManualClock | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Make the timer, with the system's clock and an executor of its own by default."""
        self._ran = ran
        self._clock = clock
        self._tasks: dict[TaskId, _NamedTask] = {}
        self.timer = timer_class(
            "tested",
            tick_ms=config.tick_ms,
            wheel_size=config.wheel_size,
            clock=clock,
            executor=executor,
        )

    def prepare(self, name: TaskId, delay_ms: int) -> TimerTask:
        """Return the task of this name; another delay needs a new task, since it is fixed.

        Threads that add or cancel a task at the same time must find it prepared.
        """
        known = self._tasks.get(name)
        if known is not None and known.delay_ms == delay_ms:
            return known
        fresh = self._tasks[name] = _NamedTask(name, delay_ms, self._ran)
        if known is not None:
            known.cancel()
        return fresh

    def perform(self, call: TimerRequest) -> TimerAnswer:
        """Make `call` and return its answer; raises what the method raises."""
        match call:
            case Add(task=task, delay_ms=delay_ms):
                self.timer.add(self.prepare(task, delay_ms))
                return Nothing()
            case Cancel(task=task):
                known = self._tasks.get(task)
                return Cancelled(cancelled=known is not None and known.cancel())
            case Size():
                return WaitingTasks(size=self.timer.size())
            case Tick(to_ms=to_ms):
                assert self._clock is not None, "nothing can move the clock of the system"
                self._clock.advance_to(to_ms)
                return Nothing()
            case AdvanceClock(timeout_ms=timeout_ms):
                wait_ms = Millis(0 if isinstance(timeout_ms, Absent) else timeout_ms)
                return Advanced(expired=self.timer.advance_clock(wait_ms))
            case Close():
                self.timer.close()
                return Nothing()


class _NamedTask(TimerTask):
    __slots__ = ("_name", "_ran")

    def __init__(self, name: TaskId, delay_ms: int, ran: Callable[[TaskId], object]) -> None:
        super().__init__(delay_ms)
        self._name = name
        self._ran = ran

    def run(self) -> None:
        self._ran(self._name)


class InlineExecutor:
    """An executor that runs a task in `submit`: an advance that returns has run what it submitted.

    The standard forbids it (6.2.1), since a task that calls the timer can deadlock; the tasks here
    only record their run. In the history they run on one thread, so that their order is judged.
    """

    def submit(self, task: Callable[[], None]) -> None:
        """Run it."""
        task()

    def shutdown(self) -> None:
        """Do nothing: there is no thread to end."""

    def await_termination(self, timeout_ms: Millis) -> bool:
        """Return True: every submitted task has run."""
        del timeout_ms
        return True


class TimerRecorder:
    """The recorder of the timers of any program, and of the moves of their manual clocks."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer
        self._timer_of: dict[int, RecordedRun] = {}
        self._clocks: dict[int, tuple[ManualClock, list[RecordedRun]]] = {}
        self._settings: dict[int, tuple[int, ManualClock | None]] = {}

    def replacements(self) -> Replacements:
        """Return the methods that record, by the class and the name that they replace."""
        recorded = self._writer.recorded
        return {
            (SystemTimer, "__init__"): self._writer.making(SystemTimer.__init__, self._begins),
            (SystemTimer, "add"): recorded(SystemTimer.add, self._adds, nothing),
            (SystemTimer, "advance_clock"): recorded(
                SystemTimer.advance_clock, AdvanceClock, telling(Advanced)
            ),
            (SystemTimer, "size"): recorded(SystemTimer.size, Size, telling(WaitingTasks)),
            (SystemTimer, "close"): recorded(SystemTimer.close, Close, nothing),
            (TimerTask, "cancel"): recorded(
                TimerTask.cancel, self._cancels, telling(Cancelled), self._run_of
            ),
            (TimerTask, "claim"): self._claim(TimerTask.claim),
            (ManualClock, "advance"): self._move(ManualClock.advance, relative=True),
            (ManualClock, "advance_to"): self._move(ManualClock.advance_to, relative=False),
        }

    def settings_of(self, timer: object) -> tuple[int, ManualClock | None] | None:
        """Return the tick of a timer in ms, and its clock if the clock is manual."""
        return self._settings.get(id(timer))

    def follow(self, clock: ManualClock, run: RecordedRun) -> None:
        """Write the moves of a clock into a history as well."""
        self._clocks.setdefault(id(clock), (clock, []))[1].append(run)

    def _begins(self, timer: SystemTimer, *_: object, **settings: object) -> None:
        tick_ms = settings.get("tick_ms", DEFAULT_TICK_MS)
        wheel_size = settings.get("wheel_size", DEFAULT_WHEEL_SIZE)
        assert isinstance(tick_ms, int)
        assert isinstance(wheel_size, int)
        clock = settings.get("clock")
        manual = clock if isinstance(clock, ManualClock) else None
        # A deferred executor runs tasks later, but the submission is recorded.
        config = TimerConfig(
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            runs="inline",
            start_ms=0 if manual is None else manual.hi_res_clock_ms(),
        )
        run = self._writer.made(timer, config, virtual=manual is not None)
        self._settings[id(timer)] = tick_ms, manual
        if manual is not None:
            self.follow(manual, run)

    def _move(
        self, original: Callable[[ManualClock, int], None], *, relative: bool
    ) -> Callable[[ManualClock, int], None]:
        @wraps(original)
        def move(clock: ManualClock, time_ms: int) -> None:
            _, runs = self._clocks.get(id(clock), (clock, []))
            to_ms = clock.hi_res_clock_ms() + time_ms if runs and relative else time_ms
            self._ticking(runs, to_ms, lambda: original(clock, time_ms))

        return move

    def _ticking(self, runs: list[RecordedRun], to_ms: int, move: Callable[[], None]) -> None:
        if not runs:
            move()
            return
        first, rest = runs[0], runs[1:]
        asked = Tick(to_ms=Millis(to_ms))
        self._writer.call(first, asked, nothing, lambda: self._ticking(rest, to_ms, move))

    def _run_of(self, task: TimerTask) -> RecordedRun | None:
        return self._timer_of.get(id(task))

    def _adds(self, run: RecordedRun, _timer: SystemTimer, timer_task: TimerTask) -> Add:
        self._timer_of[id(timer_task)] = run
        name = self._writer.name(run, timer_task, "task")
        return Add(task=name, delay_ms=timer_task.delay_ms)

    def _cancels(self, run: RecordedRun, task: TimerTask) -> Cancel:
        return Cancel(task=self._writer.name(run, task, "task"))

    def _claim(
        self, original: Callable[[TimerTask, TimerTaskEntry], bool]
    ) -> Callable[[TimerTask, TimerTaskEntry], bool]:
        @wraps(original)
        def claim(task: TimerTask, entry: TimerTaskEntry) -> bool:
            claimed = original(task, entry)
            run = self._run_of(task)
            if claimed and run is not None:
                self._writer.happens(run, Run(task=self._writer.name(run, task, "task")))
            return claimed

        return claim
